import type { Random } from '../random.ts';
import { type Language, LANGUAGES } from './languages.ts';

/** Values for the slots of a sentence. */
export interface Slots {
  person: string;
  company: string;
  link: string;
}

const NAMES = [
  'Ann',
  'Ben',
  'Carla',
  'David',
  'Elena',
  'Felix',
  'Greta',
  'Hugo',
  'Ida',
  'Jan',
  'Kim',
  'Lucía',
  'Marek',
  'Nora',
  'Oleg',
  'Paula',
  'Quinn',
  'Rosa',
  'Sven',
  'Tessa',
  'Uwe',
  'Wei',
  'Yuki',
  'Zeynep',
];
const FAMILIES = [
  'Adler',
  'Brown',
  'Costa',
  'Dubois',
  'Eriksen',
  'Fischer',
  'García',
  'Haddad',
  'Ivanova',
  'Jansen',
  'Kowalski',
  'Lindqvist',
  'Moretti',
  'Novak',
  'Okafor',
  'Petrov',
  'Quist',
  'Rossi',
  'Sato',
  'Tanaka',
  'Ueda',
  'Vogel',
  'Wang',
  'Young',
];
const CURRENCIES = ['€', '$', 'EUR', 'USD', 'CHF', '£'];
const SYLLABLES = [
  'ba',
  'co',
  'dri',
  'el',
  'fa',
  'gor',
  'hi',
  'jun',
  'ka',
  'lo',
  'mar',
  'nex',
  'or',
  'pel',
  'qui',
  'ro',
  'sol',
  'ti',
  'ul',
  'ven',
  'wis',
  'xa',
  'yor',
  'zen',
];

export function languageOf(name: string): Language {
  const language = LANGUAGES[name];
  if (language === undefined) throw new Error(`no language ${name}`);
  return language;
}

export function personName(random: Random): string {
  return `${random.one(NAMES)} ${random.one(FAMILIES)}`;
}

/** A word that no language has. */
export function inventedWord(random: Random, syllables = 2): string {
  return Array.from({ length: syllables }, () => random.one(SYLLABLES)).join('');
}

export function code(random: Random): string {
  const length = 4 + random.below(5);
  const signs = random.chance(0.6) ? '0123456789' : 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  return Array.from({ length }, () => signs[random.below(signs.length)]).join('');
}

function amount(random: Random): string {
  const whole = random.chance(0.3)
    ? `${1 + random.below(90)},${100 + random.below(900)}`
    : String(5 + random.below(900));
  const text = random.chance(0.5) ? `${whole}.${10 + random.below(90)}` : whole;
  return `${text} ${random.one(CURRENCIES)}`;
}

/** A sentence of a language with its slots filled. */
export function filled(random: Random, language: Language, sentence: string, slots: Slots): string {
  return sentence.replace(/\{(.)\}/g, (_, slot: string) => {
    switch (slot) {
      case 'n':
        return String(2 + random.below(60));
      case 'm':
        return amount(random);
      case 'd':
        return random.one(language.days);
      case 'w':
        return random.one(language.nouns);
      case 'p':
        return slots.person;
      case 'c':
        return slots.company;
      case 'k':
        return code(random);
      default:
        return slots.link;
    }
  });
}

/** So many different sentences of a list, in a new order. */
export function sentences(random: Random, list: readonly string[], count: number): string[] {
  const left = [...list];
  return Array.from({ length: Math.min(count, list.length) }, () => left.splice(random.below(left.length), 1)[0] ?? '');
}

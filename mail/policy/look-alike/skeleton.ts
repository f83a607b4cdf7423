import { domainToUnicode } from 'node:url';

/** Characters with the ASCII that they look like; from UTS #39, without those that differ only in marks. */
const TABLE = [
  // Cyrillic
  'аa вb сc ԁd еe ҽe ԍg һh іl ӏl ıl ыbl јj кk ҡk мm пn ԥn оo өo рp ԛq гr ѕs тt цu ѵv ԝw шw хx уy үy ұy зe',
  // Greek
  'αa βb ϲc εe ηn ιl κk νv υv οo σo ρp τt ωw χx γy',
  // Armenian, and Latin letters that look like plain ones
  'օo հh ոn ցg զq ɑa ƅb ɓb ƈc đd ɗd əe ƒf ɡg ħh ɦh ɩl ɪl ĸk ƙk łl ɫl ƚl ɱm ŋn ɲn ƞn øo ɵo ƥp ɽr ʂs ŧt ƭt ʋu ʏy ƴy ʐz ƶz ßss æae œoe',
  // Digits that look like letters
  '0o 1l |l il 3e 4a 5s $s 7t 8b',
];
const CONFUSABLE = new Map(
  TABLE.flatMap((line) => line.split(' ')).map((pair) => {
    const [character = '', ...plain] = Array.from(pair);
    return [character, plain.join('')] as const;
  }),
);

/** Returns the skeleton of a name: names with the same skeleton look alike. Similar to UTS #39 4. */
export function skeleton(text: string): string {
  let plain = '';
  for (const character of text.normalize('NFKD').toLowerCase()) {
    if (/[\p{M}\p{Cf}-]/u.test(character)) continue;
    plain += CONFUSABLE.get(character) ?? character;
  }
  return plain.replace(/rn/g, 'm').replace(/vv/g, 'w');
}

/** Converts A-labels to Unicode, which is what readers see. */
export function toUnicodeHost(host: string): string {
  return host.includes('xn--') ? domainToUnicode(host) || host : host;
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];

/** True if a label mixes scripts with look-alike letters. */
export function mixesScripts(host: string): boolean {
  const shown = toUnicodeHost(host);
  // ASCII letters are of one script.
  if (/^[\x00-\x7f]*$/.test(shown)) return false;
  return shown.split('.').some((label) => SCRIPTS.filter((script) => script.test(label)).length > 1);
}

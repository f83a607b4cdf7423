import { domainToUnicode } from 'node:url';

/** A character each, and the ASCII that it is read as; by UTS #39 where it has them, without what only differs in marks. */
const TABLE = [
  // Cyrillic
  'аa вb сc ԁd еe ҽe ԍg һh іl ӏl ıl ыbl јj кk ҡk мm пn ԥn оo өo рp ԛq гr ѕs тt цu ѵv ԝw шw хx уy үy ұy зe',
  // Greek
  'αa βb ϲc εe ηn ιl κk νv υv οo σo ρp τt ωw χx γy',
  // Armenian, and letters of Latin that pass for plain ones
  'օo հh ոn ցg զq ɑa ƅb ɓb ƈc đd ɗd əe ƒf ɡg ħh ɦh ɩl ɪl ĸk ƙk łl ɫl ƚl ɱm ŋn ɲn ƞn øo ɵo ƥp ɽr ʂs ŧt ƭt ʋu ʏy ƴy ʐz ƶz ßss æae œoe',
  // Digits and letters that are read for each other
  '0o 1l |l il 3e 4a 5s $s 7t 8b',
];
const CONFUSABLE = new Map(
  TABLE.flatMap((line) => line.split(' ')).map((pair) => {
    const [character = '', ...plain] = Array.from(pair);
    return [character, plain.join('')] as const;
  }),
);

/** What a name looks like at a glance: two names with the same skeleton are read as one. About UTS #39 4. */
export function skeleton(text: string): string {
  let plain = '';
  for (const character of text.normalize('NFKD').toLowerCase()) {
    if (/[\p{M}\p{Cf}-]/u.test(character)) continue;
    plain += CONFUSABLE.get(character) ?? character;
  }
  return plain.replace(/rn/g, 'm').replace(/vv/g, 'w');
}

/** A host in its own letters: A-labels are what nobody sees. */
export function shownHost(host: string): string {
  return host.includes('xn--') ? domainToUnicode(host) || host : host;
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];

/** A label of letters that look alike in scripts that nobody writes in one word. */
export function mixesScripts(host: string): boolean {
  return shownHost(host)
    .split('.')
    .some((label) => SCRIPTS.filter((script) => script.test(label)).length > 1);
}

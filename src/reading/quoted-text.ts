/** A line that says whom the following lines are of: "On Monday Anna wrote:", in the languages of the usual programs. */
const ATTRIBUTION =
  /^(?:On|Am|Le|El|Il|Em|Op|Den|Dne|W dniu|Pada|Vào|\d{4}|\S{1,12},? \d).{0,300}(?::|\uff1a)\s{0,4}$/u;
const SAID =
  /(?:wrote|schrieb|\u00e9crit|escribi\u00f3|ha scritto|escreveu|schreef|skrev|napsal|napisa\u0142|\u043f\u0438\u0448\u0435\u0442|\u043d\u0430\u043f\u0438\u0441\u0430\u043b|\u5199\u9053|\u5199\u5230|\u66f8\u304d\u307e\u3057\u305f|\uc791\uc131|kirjoitti|yazd\u0131)/u;
const SEPARATOR =
  /^-{2,20} ?(?:Original Message|Urspr\u00fcngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|Mensagem original|Oorspronkelijk bericht) ?-{2,20}$/i;

/** Lines behind an introduction among which its quote begins. */
const NEAR = 4;

/** A text without what it quotes, and the quoted lines. What would leave nothing is not cut. */
export function withoutQuotes(text: string): { own: string; quoted: string } {
  const own: string[] = [];
  const quoted: string[] = [];
  const lines = text.split('\n');
  const separator = lines.findIndex((line) => SEPARATOR.test(line.trim()));
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const isQuoted = separator >= 0 && at >= separator;
    if (isQuoted || line.startsWith('>') || introducesQuote(lines, at)) quoted.push(line);
    else own.push(line);
  }
  const left = own
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return left === '' || quoted.length === 0 ? { own: text, quoted: '' } : { own: left, quoted: quoted.join('\n') };
}

/** It stands right before a quote, perhaps broken into two lines. */
function introducesQuote(lines: readonly string[], at: number): boolean {
  if (!lines.slice(at + 1, at + 1 + NEAR).some((later) => later.startsWith('>'))) return false;
  const [line = '', next = ''] = lines.slice(at, at + 2);
  const one = line.length < 400 && SAID.test(line) && ATTRIBUTION.test(line.trim());
  const both = `${line} ${next}`.trim();
  const two = !one && line !== '' && both.length < 400 && SAID.test(next) && ATTRIBUTION.test(both);
  const last = /[:\uff1a]\s{0,4}$/.test(line) && line.length < 400 && SAID.test(line);
  if (!one && !two && !last) return false;
  const following = lines.slice(at + (two ? 2 : 1), at + 1 + NEAR).find((later) => later.trim() !== '');
  return following?.startsWith('>') === true;
}

import { formatDate } from '../../mail/message/date.ts';

/** What is quoted or handed on of a message. */
export interface Quotable {
  /** As people read it, `Anna <anna@example.org>`. */
  from: string;
  to: string;
  subject: string;
  /** ms UTC. */
  date: number;
  text: string;
  /** Its HTML as it came; undefined: it has none. */
  html: string | undefined;
}

interface Texts {
  text?: string | undefined;
  html?: string | undefined;
}

/** Characters of a quote: who wants more has the message. */
const MOST_QUOTED = 200_000;

/**
 * An answer with what it answers below it. HTML quotes the words alone: what a stranger hides in theirs, and what spies
 * on readers, is not sent on in our name.
 */
export function quoted({ text, html }: Texts, of: Quotable): Texts {
  const intro = `On ${formatDate(of.date)}, ${of.from} wrote:`;
  const words = of.text.slice(0, MOST_QUOTED).toWellFormed().trimEnd();
  const lines = words.split('\n').map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`));
  const block = `<blockquote type="cite" style="margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex">${inHtml(words)}</blockquote>`;
  return {
    ...(text !== undefined && { text: `${text.trimEnd()}\n\n${intro}\n${lines.join('\n')}\n` }),
    ...(html !== undefined && { html: intoBody(html, `<br><div>${inHtml(intro)}</div>${block}`, 'end') }),
  };
}

/** A message in the body of another one, below a note, as mail programs pass it on: its HTML as it came. */
export function passedOn(note: string, of: Quotable): Texts {
  const head = ['---------- Forwarded message ----------', `From: ${of.from}`, `Date: ${formatDate(of.date)}`];
  const lines = [...head, `Subject: ${of.subject}`, `To: ${of.to}`].join('\n');
  const before = note === '' ? lines : `${note.trimEnd()}\n\n${lines}`;
  return {
    text: `${before}\n\n${of.text}`,
    ...(of.html !== undefined && { html: intoBody(of.html, `<div>${inHtml(before)}</div><br>`, 'start') }),
  };
}

/** `Re: ` or `Fwd: ` before a subject that does not begin so. */
export function prefixed(prefix: 'Re' | 'Fwd', subject: string): string {
  const known = prefix === 'Re' ? /^re\s{0,4}:/i : /^fwd?\s{0,4}:/i;
  return (known.test(subject) ? subject : `${prefix}: ${subject}`).slice(0, 990).toWellFormed();
}

function inHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '<br>\n');
}

/** Inside of the body where there is one: what stands before or behind a document is not shown by all programs. */
function intoBody(html: string, piece: string, where: 'start' | 'end'): string {
  const at = where === 'start' ? bodyStart(html) : bodyEnd(html);
  return html.slice(0, at) + piece + html.slice(at);
}

function bodyStart(html: string): number {
  const open = html.search(/<body\b/i);
  return open < 0 ? 0 : html.indexOf('>', open) + 1;
}

function bodyEnd(html: string): number {
  const [last] = [...html.matchAll(/<\/body/gi)].slice(-1);
  return last?.index ?? html.length;
}

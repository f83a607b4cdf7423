import { formatDate } from '../../mail/message/date.ts';

/** Quoted or forwarded content of a message. */
export interface QuotedMessage {
  /** For display: `Anna <anna@example.org>`. */
  from: string;
  to: string;
  subject: string;
  /** ms UTC. */
  date: number;
  text: string;
  /** Original HTML; undefined without any. */
  html: string | undefined;
}

interface BodyTexts {
  text?: string | undefined;
  html?: string | undefined;
}

/** Characters of a quote. */
const MAX_QUOTED_CHARS = 200_000;

/**
 * Appends the quoted message to a reply. In HTML only the text is quoted: hidden content and tracking images of the
 * original are not sent in our name.
 */
export function appendQuote({ text, html }: BodyTexts, of: QuotedMessage): BodyTexts {
  const intro = `On ${formatDate(of.date)}, ${of.from} wrote:`;
  const words = of.text.slice(0, MAX_QUOTED_CHARS).toWellFormed().trimEnd();
  const lines = words.split('\n').map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`));
  const block = `<blockquote type="cite" style="margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex">${inHtml(words)}</blockquote>`;
  return {
    ...(text !== undefined && { text: `${text.trimEnd()}\n\n${intro}\n${lines.join('\n')}\n` }),
    ...(html !== undefined && { html: intoBody(html, `<br><div>${inHtml(intro)}</div>${block}`, 'end') }),
  };
}

/** Builds the body of an inline forward: a note, the header summary, and the original text and HTML. */
export function forwardedBody(note: string, of: QuotedMessage): BodyTexts {
  const head = ['---------- Forwarded message ----------', `From: ${of.from}`, `Date: ${formatDate(of.date)}`];
  const lines = [...head, `Subject: ${of.subject}`, `To: ${of.to}`].join('\n');
  const before = note === '' ? lines : `${note.trimEnd()}\n\n${lines}`;
  return {
    text: `${before}\n\n${of.text}`,
    ...(of.html !== undefined && { html: intoBody(of.html, `<div>${inHtml(before)}</div><br>`, 'start') }),
  };
}

/** Adds `Re: ` or `Fwd: ` to a subject without it. */
export function prefixed(prefix: 'Re' | 'Fwd', subject: string): string {
  const known = prefix === 'Re' ? /^re\s{0,4}:/i : /^fwd?\s{0,4}:/i;
  return (known.test(subject) ? subject : `${prefix}: ${subject}`).slice(0, 990).toWellFormed();
}

const IN_HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '<br>\n',
};

function inHtml(text: string): string {
  return text.replace(/[&<>"\n]/g, (sign) => IN_HTML[sign] ?? sign);
}

/** Inserts inside <body> if there is one: some clients hide content outside it. */
function intoBody(html: string, piece: string, where: 'start' | 'end'): string {
  const at = where === 'start' ? bodyStart(html) : bodyEnd(html);
  return html.slice(0, at) + piece + html.slice(at);
}

function bodyStart(html: string): number {
  const open = html.search(/<body\b/i);
  return open < 0 ? 0 : html.indexOf('>', open) + 1;
}

function bodyEnd(html: string): number {
  for (let at = html.lastIndexOf('</'); at > 0; at = html.lastIndexOf('</', at - 1)) {
    if (html.slice(at, at + 6).toLowerCase() === '</body') return at;
  }
  return html.length;
}

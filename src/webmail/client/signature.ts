import { cleanMarkup, markupOfText } from './editor-html.ts';
import { plainTextOf } from './editor-text.ts';
import type { MailIdentity } from './jmap-types.ts';

/** The signature of an identity below a plain text. RFC 3676 4.3. */
export function plainSignature(identity: MailIdentity | undefined): string {
  const text = identity?.textSignature ?? '';
  return text === '' ? '' : `\n\n-- \n${text}`;
}

/** The signature of an identity as formatted text, in an element by which it is found again. */
export function markupSignature(identity: MailIdentity | undefined): string {
  const { htmlSignature = '', textSignature = '' } = identity ?? {};
  const inner = htmlSignature === '' ? markupOfText(textSignature) : htmlSignature;
  if (htmlSignature + textSignature === '') return '';
  return `<div><br></div><div data-signature="1">${inner}</div>`;
}

/** Formatted text with the signature of another identity, where the one that it has is still there. */
export function withSignature(markup: string, identity: MailIdentity | undefined): string {
  const fragment = cleanMarkup(markup);
  const holder = (fragment.ownerDocument ?? document).createElement('div');
  holder.append(fragment);
  const old = holder.querySelector('[data-signature]');
  if (old === null) return markup;
  const { htmlSignature = '', textSignature = '' } = identity ?? {};
  old.replaceChildren(cleanMarkup(htmlSignature === '' ? markupOfText(textSignature) : htmlSignature));
  return holder.innerHTML;
}

/** The texts of a message without the signature that web mail put in. */
export function composedWithoutSignature({ markup, text }: { markup: string | undefined; text: string }): {
  markup: string | undefined;
  text: string;
} {
  if (markup === undefined) return { markup, text: text.replace(/\n-- \n[^]*$/, '').trimEnd() };
  const fragment = cleanMarkup(markup);
  const holder = (fragment.ownerDocument ?? document).createElement('div');
  holder.append(fragment);
  holder.querySelector('[data-signature]')?.remove();
  while (holder.lastElementChild?.outerHTML === '<div><br></div>') holder.lastElementChild.remove();
  return { markup: holder.innerHTML, text: plainTextOf(holder) };
}

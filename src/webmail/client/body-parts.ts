import type { FullEmail, MessagePart } from './jmap-types.ts';

type BodyOf = Pick<FullEmail, 'textBody' | 'htmlBody' | 'attachments' | 'bodyValues'>;

const TEXT = /^text\/(?:plain|html)$/;

export function hasMarkup({ htmlBody }: Pick<BodyOf, 'htmlBody'>): boolean {
  return htmlBody.some(({ type }) => type === 'text/html');
}

/**
 * The formatted body of an email. Plain parts of it, such as the footer of a list, stand where they came, as text that is
 * nothing else.
 */
export function markupOf({ htmlBody, bodyValues }: BodyOf): string {
  return htmlBody
    .filter(({ type }) => TEXT.test(type))
    .map(({ partId, type }) => {
      const value = bodyValues[partId ?? '']?.value ?? '';
      return type === 'text/html' ? value : `<div style="white-space:pre-wrap">${escaped(value)}</div>`;
    })
    .join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Parts of the body that are images, sounds or films: RFC 8621 4.1.4 does not list them as attachments. */
export function mediaParts({ textBody, htmlBody }: Pick<BodyOf, 'textBody' | 'htmlBody'>): MessagePart[] {
  const media = [...htmlBody, ...textBody].filter(({ type, blobId }) => !TEXT.test(type) && blobId !== null);
  return [...new Map(media.map((part) => [part.blobId, part])).values()];
}

/** The files of an email: everything that its formatted text does not show. `isFormatted`: that text is shown. */
export function filesOf(email: BodyOf, isFormatted: boolean): MessagePart[] {
  const markup = isFormatted && hasMarkup(email) ? markupOf(email).toLowerCase() : '';
  return [...mediaParts(email), ...email.attachments].filter(({ cid, type }) => {
    if (cid === null || !type.startsWith('image/')) return true;
    return ![cid, encodeURIComponent(cid)].some((one) => markup.includes(`cid:${one.toLowerCase()}`));
  });
}

import type { Finding } from '../finding.ts';
import { tagsOf } from '../html-tags.ts';
import { countLetters } from '../count-letters.ts';
import type { Sample } from '../sample.ts';
import { isUnauthenticated } from '../author-proof.ts';
import { linkHosts } from './hosts.ts';

/** Messages with fewer letters count as empty. */
const MIN_LETTERS = 25;

/** Finds messages with no text but a link or an image, which the words classifier cannot score. */
export function checkEmptyMessage(sample: Sample): readonly Finding[] {
  const { text, html, parts } = sample;
  const links = linkHosts(sample.links, 1);
  const letters = countLetters(text.replace(/\b(?:https?:\/\/|www\.)\S{1,2048}/gi, ' '));
  if (letters >= MIN_LETTERS) return [];
  const pictured = parts.some(({ type }) => type.startsWith('image/')) || (html !== '' && hasPicture(html));
  const doubtful = isUnauthenticated(sample) ? 0.5 : 0;
  if (pictured && links.length > 0)
    return [{ rule: 'picture-link', score: 1.5 + doubtful, why: 'The message is an image with a link, without text' }];
  if (links.length > 0) return [{ rule: 'link-only', score: 1 + doubtful, why: 'The message is a link without text' }];
  if (pictured && html !== '')
    return [{ rule: 'picture-only', score: 0.5, why: 'The message is an image without text' }];
  return [];
}

function hasPicture(html: string): boolean {
  for (const { name } of tagsOf(html)) if (name === 'img') return true;
  return false;
}

import type { Finding } from '../finding.ts';
import { tagsOf } from '../html-tags.ts';
import { countLetters } from '../letters.ts';
import type { Sample } from '../sample.ts';
import { isUnproven } from '../vouched.ts';
import { hostsOf } from './hosts.ts';

/** Letters below which a message says next to nothing. */
const NOTHING_SAID = 25;

/** Nothing to read but a link or a picture: what filters of words cannot judge. */
export function emptyShell(sample: Sample): readonly Finding[] {
  const { text, html, parts } = sample;
  const links = hostsOf(sample.links, 1);
  const said = countLetters(text.replace(/\b(?:https?:\/\/|www\.)\S{1,2048}/gi, ' '));
  if (said >= NOTHING_SAID) return [];
  const pictured = parts.some(({ type }) => type.startsWith('image/')) || hasPicture(html);
  const doubtful = isUnproven(sample) ? 0.5 : 0;
  if (pictured && links.length > 0)
    return [{ rule: 'picture-link', score: 1.5 + doubtful, why: 'It is a picture with a link and says nothing' }];
  if (links.length > 0) return [{ rule: 'link-only', score: 1 + doubtful, why: 'It is a link and says nothing' }];
  if (pictured && html !== '') return [{ rule: 'picture-only', score: 0.5, why: 'It is a picture and says nothing' }];
  return [];
}

function hasPicture(html: string): boolean {
  for (const { name } of tagsOf(html)) if (name === 'img') return true;
  return false;
}

import type { Outgoing } from '../../mail/delivery/submit.ts';
import { harmless } from '../bootstrap/claim-letter.ts';
import { publicId } from '../ids.ts';
import type { Post } from '../letters/letter.ts';
import { toOwners } from '../letters/owners.ts';
import type { CatalogueChange } from '../mcp/catalogue-pin.ts';
import type { AuditHead } from './pin-queries.ts';

/** A box that writes to owners, and knows where its pages are. */
export type OwnerPost = Post & { baseUrl: () => string };

/** What the owners are told when their agents have other tools than before, a letter each. */
export function catalogueLetters(
  post: OwnerPost,
  organization: number,
  { change, sha256 }: { change: CatalogueChange; sha256: string },
): Promise<Outgoing[]> {
  const { hostname } = post.settings;
  return toOwners(post, organization, {
    subject: 'The tools of your agents changed',
    text: [
      'Hello,',
      '',
      `the mail server ${hostname} runs another version, and the tools that it offers to agents changed:`,
      '',
      ...named('New', change.added),
      ...named('Gone', change.removed),
      ...named('Changed', change.changed),
      '',
      'The whole catalogue has this SHA-256 now, and tools/list says the same to your agents:',
      `  ${sha256}`,
      '',
      'If the server was not updated, ask who runs it: somebody may have changed what your agents read.',
      '',
      `Mailstead on ${hostname}`,
    ],
  });
}

function named(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}:`, ...names.map((name) => `  ${name}`)];
}

/** The newest hash of the audit log, a letter to each owner: who keeps it can prove what was in the log. */
export function auditLetters(
  post: OwnerPost,
  { organization, name, audit, hash, acts }: AuditHead,
): Promise<Outgoing[]> {
  const { hostname } = post.settings;
  const pages = `${post.baseUrl()}/o/${publicId('organization', organization)}`;
  return toOwners(post, organization, {
    subject: 'What agents did: the end of the audit log',
    text: [
      'Hello,',
      '',
      `agents of "${harmless(name)}" on the mail server ${hostname} did ${acts >= 100 ? 'a hundred things or more' : `${acts} ${acts === 1 ? 'thing' : 'things'}`} since the`,
      'last letter. The audit log ends with this row and its hash, which binds all rows before it:',
      '',
      `  ${publicId('audit', audit)}`,
      `  ${Buffer.from(hash).toString('hex')}`,
      '',
      'Keep this letter: a log that was changed afterwards has another hash at that row.',
      `Read the log and check it: ${pages}/audit?verify`,
      `Did you not expect this? End the access of an agent: ${pages}/tokens`,
      '',
      `Mailstead on ${hostname}`,
    ],
  });
}

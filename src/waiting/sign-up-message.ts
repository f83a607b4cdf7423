import { mainLabel } from '../../mail/policy/registrable.ts';
import type { Trust } from '../../mail/policy/trust.ts';
import { urlOf } from '../reading/link-registry.ts';
import { type ReadingContext, messageText } from '../reading/message-text.ts';
import { type LoadedMessage, loadMessages } from '../reading/summary.ts';
import { quarantineReason, type QuarantineReason } from '../reading/quarantine.ts';
import { findCode, type Confidence } from './codes/code-finder.ts';
import { findConfirmationLink } from './codes/link-finder.ts';
import { authorOf, isUnder, subjectTextOf } from './message-criteria.ts';
import type { Link } from '../core/text-tasks.ts';

export type CodeKind = 'any' | 'code' | 'link';

/** Authentication of the sender: DMARC, or in local mode delivery from this machine. */
export type SenderProof = 'dmarc' | 'local';

/** The code or link of a sign-up message, or the reason why it is hidden. */
export type SignUpResult =
  | {
      kind: 'given';
      known: LoadedMessage;
      by: SenderProof;
      code: string | null;
      link: Link | null;
      url: string | null;
      confidence: Confidence;
    }
  /** It looks like the expected message, but is not trustworthy. */
  | { kind: 'quarantined'; known: LoadedMessage; why: 'unauthenticated_sender' | QuarantineReason };

/** Characters searched. */
const MAX_TEXT_CHARACTERS = 100_000;

/** Finds a code or link in one message; undefined: not a sign-up message of the domain. */
export async function readSignUp(
  library: ReadingContext,
  box: { id: number; address: string },
  known: LoadedMessage,
  { domain, kind, local }: { domain: string; kind: CodeKind; local: boolean },
): Promise<SignUpResult | undefined> {
  const [whole] = (await loadMessages(library.store, box, [known.row.id], true)) ?? [];
  if (whole === undefined) return undefined;
  const isOfDomain = isUnder((authorOf(whole) ?? '').replace(/^.*@/, ''), domain);
  const by = isOfDomain ? senderProof(whole.filterResult?.trust, local) : undefined;
  const text = await messageText(library, whole.row, { links: kind !== 'code' });
  const own = text.own.slice(0, MAX_TEXT_CHARACTERS);
  const why = quarantineReason(whole, text);
  if (why !== undefined) return isOfDomain ? { kind: 'quarantined', known: whole, why } : undefined;
  const subject = subjectTextOf(whole);
  const code = kind === 'link' ? undefined : findCode(subject, own);
  const link = kind === 'code' ? undefined : findConfirmationLink(own, text, domain);
  if (by === undefined) {
    const isAlike = code !== undefined || link !== undefined;
    const claims = isOfDomain || mentions(`${subject}\n${own.slice(0, 2000)}\n${authorOf(whole) ?? ''}`, domain);
    return isAlike && claims ? { kind: 'quarantined', known: whole, why: 'unauthenticated_sender' } : undefined;
  }
  if (code === undefined && link === undefined) return undefined;
  return {
    kind: 'given',
    known: whole,
    by,
    code: code?.code ?? null,
    link: link?.link ?? null,
    url: link === undefined ? null : (urlOf(text, link.link.handle) ?? null),
    confidence: code?.confidence ?? link?.confidence ?? 'low',
  };
}

/** Undefined: not authenticated. A message without filter result, sent by a mailbox of this box, is not either. */
function senderProof(trust: Trust | undefined, local: boolean): SenderProof | undefined {
  if (trust?.alignedFrom === true) return 'dmarc';
  return local ? 'local' : undefined;
}

/** True when the text mentions the domain's name. */
function mentions(text: string, domain: string): boolean {
  return text.toLowerCase().includes(mainLabel(domain));
}

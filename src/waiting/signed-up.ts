import { mainLabel } from '../../mail/policy/registrable.ts';
import type { Trust } from '../../mail/policy/trust.ts';
import { type Link, urlOf } from '../reading/link-book.ts';
import { type Library, messageText } from '../reading/message-text.ts';
import { type Known, knownMessages } from '../reading/summary.ts';
import { whyWithheld, type Withheld } from '../reading/withheld.ts';
import { codeIn, type Confidence } from './codes/code-in.ts';
import { linkIn } from './codes/link-in.ts';
import { authorOf, isUnder, subjectTextOf } from './wanted.ts';

export type CodeKind = 'any' | 'code' | 'link';

/** How the sender of a message is known: by DMARC, or in local mode by its being on this machine. */
export type Vouched = 'dmarc' | 'local';

/** What a message gives to who signs up. */
export type SignUp =
  | {
      kind: 'given';
      known: Known;
      by: Vouched;
      code: string | null;
      link: Link | null;
      url: string | null;
      confidence: Confidence;
    }
  /** It looks like what is waited for, and must not be believed. */
  | { kind: 'withheld'; known: Known; why: 'unauthenticated_sender' | Withheld };

/** Characters that are looked through. */
const MOST_TEXT = 100_000;

/** Reads one message; undefined: it is about something else. */
export async function signUpIn(
  library: Library,
  box: { id: number; address: string },
  known: Known,
  { domain, kind, local }: { domain: string; kind: CodeKind; local: boolean },
): Promise<SignUp | undefined> {
  const [whole] = (await knownMessages(library.store, box, [known.row.id], true)) ?? [];
  if (whole === undefined) return undefined;
  const isOfDomain = isUnder((authorOf(whole) ?? '').replace(/^.*@/, ''), domain);
  const by = isOfDomain ? vouchedBy(whole.judged?.trust, local) : undefined;
  const text = await messageText(library, whole.row, { links: kind !== 'code' });
  const own = text.own.slice(0, MOST_TEXT);
  const why = whyWithheld(whole, text);
  if (why !== undefined) return isOfDomain ? { kind: 'withheld', known: whole, why } : undefined;
  const subject = subjectTextOf(whole);
  const code = kind === 'link' ? undefined : codeIn(subject, own);
  const link = kind === 'code' ? undefined : linkIn(own, text, domain);
  if (by === undefined) {
    const isAlike = code !== undefined || link !== undefined;
    const claims = isOfDomain || mentions(`${subject}\n${own.slice(0, 2000)}\n${authorOf(whole) ?? ''}`, domain);
    return isAlike && claims ? { kind: 'withheld', known: whole, why: 'unauthenticated_sender' } : undefined;
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

/** Undefined: nobody vouches for it. What was not judged, because a mailbox here sent it, proves nothing either. */
function vouchedBy(trust: Trust | undefined, local: boolean): Vouched | undefined {
  if (trust?.alignedFrom === true) return 'dmarc';
  return local ? 'local' : undefined;
}

/** It speaks of the domain by its name. */
function mentions(text: string, domain: string): boolean {
  return text.toLowerCase().includes(mainLabel(domain));
}

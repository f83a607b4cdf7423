import type { Reason } from '../../mail/delivery/agent/types.ts';
import { enter, holding, judge, type Submitted } from '../../mail/delivery/submit.ts';
import type { Stamp, Write } from '../../mail/store/engine/types.ts';
import { sentBefore } from '../../mail/store/sent-before.ts';
import { isDraftThere } from './origin-commands.ts';
import type { SendOutcome, SendRequest } from './sent-commands.ts';

type Once = Submitted | Extract<SendOutcome, { kind: 'draft-changed' | 'needs-approval' }>;

/** The gate, for a message that may be made from a draft, and may not want to wait for a person. */
export async function submitOnce(tx: Write, request: SendRequest, stamp: Stamp): Promise<Once> {
  // First: of what was sent before the draft is gone.
  const before = await sentBefore(tx, request.guard, stamp.now);
  if (before !== undefined) return before;
  if (!(await isDraftThere(tx, request))) return { kind: 'draft-changed' };
  const judged = await judge(tx, request, stamp.now);
  if (judged.kind !== 'passed') return judged;
  const reasons = request.failIfHeld ? await holding(tx, request, judged) : [];
  if (reasons.length > 0) return { kind: 'needs-approval', reasons: reasons.map(({ text }) => text) };
  return enter(tx, request, judged, stamp);
}

/** Why a message waits that was taken. */
export interface Waiting {
  heldBecause: string | null;
  reasons: readonly Reason[];
}

/** All of them as sentences, each once. */
export function reasonsOf({ heldBecause, reasons }: Waiting): string[] {
  return heldBecause === null ? [] : [...new Set([heldBecause, ...reasons.map(({ text }) => text)])];
}

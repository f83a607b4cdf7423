import type { AppContext } from '../core/app-context.ts';
import type { FactorProof, TotpState } from './factor-commands.ts';
import type { FactorAttempt } from './pending-commands.ts';
import { recoveryCodeHash } from './recovery-code.ts';
import type { SignIn } from './sign-in.ts';
import { acceptedStep } from './totp.ts';

export type FactorCheck =
  | { kind: 'right'; user: number; proof: FactorProof }
  | { kind: 'wrong' }
  /** The first step has expired or used up its attempts. */
  | { kind: 'ended' }
  | { kind: 'throttled'; retryAfter: number };

type FactorContext = Pick<AppContext, 'secrets' | 'clock'>;

/**
 * Checks a code of the authenticator app or a recovery code. `admit` counts the attempt first. The result is used up by the command
 * that it allows, which decides between concurrent uses.
 */
export async function checkSecondFactor(
  { context, people }: { context: FactorContext; people: SignIn },
  { text, ip }: { text: string; ip: string },
  admit: () => Promise<FactorAttempt>,
): Promise<FactorCheck> {
  const counted = people.admitFactor(ip);
  if (counted?.kind === 'throttled') return counted;
  const attempt = await admit();
  if (attempt.kind === 'limited') return { kind: 'throttled', retryAfter: Math.ceil(attempt.waitMs / 1000) };
  if (attempt.kind === 'ended') return attempt;
  const { user, totp } = attempt;
  const proof = proofOf(context, { user, totp }, text);
  if (proof === undefined) {
    people.recordWrongFactor(ip, user);
    return { kind: 'wrong' };
  }
  if (proof.kind === 'totp') counted?.rollBack();
  return { kind: 'right', user, proof };
}

/** Reads a code as entered; undefined if it is wrong. A recovery code is looked up when it is used. */
function proofOf(
  { secrets, clock }: FactorContext,
  { user, totp }: { user: number; totp: TotpState | null },
  text: string,
): FactorProof | undefined {
  const hash = recoveryCodeHash(text);
  if (hash !== undefined) return { kind: 'recovery', hash };
  if (totp === null || text.length > 20) return undefined;
  const secret = openTotpSecret(secrets, user, totp.secret);
  const step = acceptedStep(secret, text.replace(/\s/g, ''), { now: clock(), after: totp.lastStep });
  return step === undefined ? undefined : { kind: 'totp', step };
}

const PURPOSE = 'totp';

export function sealTotpSecret(secrets: AppContext['secrets'], user: number, secret: Uint8Array): Uint8Array {
  return Uint8Array.from(secrets.seal(PURPOSE, 'totp', user, secret));
}

export function openTotpSecret(secrets: AppContext['secrets'], user: number, sealed: Uint8Array): Buffer {
  return secrets.open(PURPOSE, 'totp', user, sealed);
}

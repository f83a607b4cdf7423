import { secret } from './components.ts';
import type { FormState } from './forms.ts';
import { type Html } from './html.ts';

export const SECURITY_PATH = '/account/security';

/** The page after an action: with a panel, or with the errors of the refused action. */
export interface SecurityState {
  panel?: Html;
  /** The script that the panel needs. */
  script?: 'passkey';
  /** The refused action. */
  action?: string;
  form?: FormState;
  status?: number;
}

/** The page again, or a redirect to it with a notice. */
export type SecurityOutcome = SecurityState | { done: string };

export function codesPanel(codes: readonly string[]): Html {
  const about =
    'Shown only once. Each signs you in once if you lose your device. Print them, or keep them in a password manager.';
  return secret('Recovery codes', [['Recovery codes', codes.join('\n')]], about);
}

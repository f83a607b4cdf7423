import { secret } from './components.ts';
import type { FormState } from './forms.ts';
import { type Html } from './html.ts';
import type { Translator } from './translator.ts';

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

export function codesPanel(t: Translator, codes: readonly string[]): Html {
  const title = t('security.codes');
  return secret(title, [[title, codes.join('\n')]], t('security.codes-once'));
}

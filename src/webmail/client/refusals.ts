import type { PlainKey } from './message-types.ts';
import { t } from './translate.ts';

/** Messages by the code of a refusal. The sentence that a route sends with the code is English. */
const REFUSALS: ReadonlyMap<string, PlainKey> = new Map<string, PlainKey>([
  ['read-only', 'refused.read-only'],
  ['agent-password', 'refused.agent-password'],
  ['no-folder', 'refused.no-folder'],
  ['no-access', 'refused.no-access'],
  ['unknown-address', 'refused.unknown-address'],
  ['not-allowed', 'refused.not-allowed'],
  ['too-many-shares', 'refused.too-many-shares'],
  ['no-sender', 'refused.no-sender'],
  ['too-many-rules', 'refused.too-many-rules'],
  ['no-rule', 'refused.no-rule'],
  ['snooze-time', 'refused.snooze-time'],
  ['too-many-snoozed', 'refused.too-many-snoozed'],
  ['unsubscribing', 'refused.unsubscribing'],
  ['no-message', 'refused.no-message'],
  ['no-unsubscribe', 'refused.no-unsubscribe'],
]);

/** The reason of a refusal in the language of the page; undefined without a known code. */
export function translatedRefusal(code: string | undefined): string | undefined {
  const key = REFUSALS.get(code ?? '');
  return key === undefined ? undefined : t(key);
}

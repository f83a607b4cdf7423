import { AGENT_VERBS } from './agent-verbs.ts';
import { BAN_VERBS } from './ban-verbs.ts';
import { CANARY_VERBS } from './canary-verbs.ts';
import { call } from './call.ts';
import { MAIL_VERBS } from './mail-verbs.ts';
import { ORGANIZATION_VERBS } from './organization-verbs.ts';
import type { Verb } from './verb.ts';

/** Everything that can be asked of a running server. */
export const VERBS: readonly Verb[] = [
  ...MAIL_VERBS,
  ...ORGANIZATION_VERBS,
  ...BAN_VERBS,
  ...AGENT_VERBS,
  ...CANARY_VERBS,
  call,
];

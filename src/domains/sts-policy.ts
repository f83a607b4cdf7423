import type { OwnStsPolicy } from './sts-queries.ts';

/** Seconds for which senders keep a policy. RFC 8461 3.2: weeks where it is meant to last, a day while it may still change. */
const MAX_AGE = { enforce: 1_209_600, testing: 86_400, none: 86_400 } as const;

/** Text of a policy. RFC 8461 3.2. */
export function stsPolicyText({ mode }: OwnStsPolicy, hostname: string): string {
  const lines = ['version: STSv1', `mode: ${mode}`, `mx: ${hostname}`, `max_age: ${MAX_AGE[mode]}`];
  return `${lines.join('\r\n')}\r\n`;
}

/** Text of the TXT record, whose id changes with the policy. RFC 8461 3.1. */
export function stsRecordText({ changedAt }: OwnStsPolicy): string {
  return `v=STSv1; id=${new Date(changedAt).toISOString().replace(/\D/g, '').slice(0, 17)};`;
}

import type { DmarcDecision } from '../auth/dmarc-decision.ts';
import { type Finding, JUNK_THRESHOLD } from './finding.ts';

/** Score of an allow or block rule: more than all checks together. */
const LIST_SCORE = 100;

/** Input of the decision on one message for one account. */
export interface VerdictInput {
  /** Result of DMARC and the tenant's DMARC setting. */
  author: DmarcDecision;
  findings: readonly Finding[];
  /** Allow or block rule of the account or its tenant that matches the sender. */
  rule?: { kind: 'allow' | 'block'; why: string };
}

/** Decision of the filter. `because`: reason for the sender, a sentence without its full stop and without a link. */
export type FilterDecision =
  | { kind: 'inbox' | 'junk'; score: number; findings: readonly Finding[] }
  | {
      kind: 'refuse' | 'later';
      because: string;
      /** Enhanced status code of the reply, if it differs from that of a policy. RFC 3463. */
      status?: string | undefined;
      score: number;
      findings: readonly Finding[];
    };

/** Flags of dangerous content. They apply to allowed senders too, whose accounts may be compromised. */
const HARMFUL: ReadonlySet<string> = new Set(['malware', 'executable-attachment']);

/**
 * Decides what happens to a message. Allow and block rules come first, then DMARC, then all other findings. Malware, and
 * programs that are rejected from others, are not accepted from allowed senders either.
 */
export function decideVerdict({ author, findings, rule }: VerdictInput): FilterDecision {
  const harm = findHarm(findings);
  const all = [...findings];
  if (rule !== undefined) all.push(listFinding(rule, harm !== undefined));
  // A message that this account rejects or defers may be accepted for others, and then needs a reason for Junk.
  if (author.kind !== 'pass')
    all.push({
      rule: 'author',
      score: author.kind === 'mark' ? 0 : JUNK_THRESHOLD,
      why: author.why,
      flag: 'unproven-author',
    });
  let sum = 0;
  for (const one of all) sum += one.score;
  const score = Math.round(sum * 10) / 10;
  const scored = { score, findings: all };
  if (rule?.kind === 'block') return { kind: 'refuse', because: rule.why, ...scored };
  if (rule?.kind === 'allow') return { ...(harm ?? { kind: 'inbox' }), ...scored };
  if (author.kind === 'later' || author.kind === 'refuse')
    return { kind: author.kind, because: author.why, status: author.status, ...scored };
  const fraud = findings.find(({ refuse }) => refuse === true);
  if (fraud !== undefined) return { kind: 'refuse', because: fraud.why, ...scored };
  return { kind: score >= JUNK_THRESHOLD ? 'junk' : 'inbox', ...scored };
}

/** Decides by harmful findings alone; undefined if they leave the message in the inbox. */
function findHarm(findings: readonly Finding[]): { kind: 'junk' } | { kind: 'refuse'; because: string } | undefined {
  const harmful = findings.filter(({ flag = '' }) => HARMFUL.has(flag));
  const refused = harmful.find(({ refuse }) => refuse === true);
  if (refused !== undefined) return { kind: 'refuse', because: refused.why };
  return harmful.reduce((sum, { score }) => sum + score, 0) >= JUNK_THRESHOLD ? { kind: 'junk' } : undefined;
}

function listFinding({ kind, why }: NonNullable<VerdictInput['rule']>, isHarmful: boolean): Finding {
  if (kind === 'block') return { rule: 'block-list', score: LIST_SCORE, why };
  if (isHarmful) return { rule: 'allow-list', score: 0, why: `${why}, but this content is dangerous` };
  return { rule: 'allow-list', score: -LIST_SCORE, why };
}

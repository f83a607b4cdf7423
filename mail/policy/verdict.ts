import type { DmarcDecision } from '../auth/dmarc-decision.ts';
import { type Finding, JUNK_FROM } from './finding.ts';

/** More than everything else together. */
const LISTED = 100;

/** One message for one account, as it stands before the decision. */
export interface Case {
  /** What DMARC and the tenant's word on it come to. */
  author: DmarcDecision;
  findings: readonly Finding[];
  /** What the lists of the account and of its tenant say of who wrote it. */
  rule?: { kind: 'allow' | 'block'; why: string };
}

/** `because`: for who sends it, a sentence without its full stop and without a link. */
export type Decision =
  | { kind: 'inbox' | 'junk'; score: number; findings: readonly Finding[] }
  | {
      kind: 'refuse' | 'later';
      because: string;
      /** What the peer is answered, where it is not that of a policy. RFC 3463. */
      status?: string | undefined;
      score: number;
      findings: readonly Finding[];
    };

/** Under these a message is a danger to whoever opens it, whoever sent it: what a rule allows may have been broken into. */
const HARMFUL: ReadonlySet<string> = new Set(['malware', 'executable-attachment']);

/**
 * Where a message goes. What a person said by a list comes first, then the author's domain, then everything else; but
 * nobody is allowed to bring malware, or a program that would be refused from others.
 */
export function decide({ author, findings, rule }: Case): Decision {
  const harm = harmIn(findings);
  const all = [...findings, ...saidBy(rule, harm !== undefined), ...doubted(author)];
  const score = Math.round(all.reduce((sum, one) => sum + one.score, 0) * 10) / 10;
  const known = { score, findings: all };
  if (rule?.kind === 'block') return { kind: 'refuse', because: rule.why, ...known };
  if (rule?.kind === 'allow') return { ...(harm ?? { kind: 'inbox' }), ...known };
  if (author.kind === 'later' || author.kind === 'refuse')
    return { kind: author.kind, because: author.why, status: author.status, ...known };
  const fraud = findings.find(({ refuse }) => refuse === true);
  if (fraud !== undefined) return { kind: 'refuse', because: fraud.why, ...known };
  return { kind: score >= JUNK_FROM ? 'junk' : 'inbox', ...known };
}

/** What becomes of a message by its harmful findings alone, where these do not leave it in the inbox. */
function harmIn(findings: readonly Finding[]): { kind: 'junk' } | { kind: 'refuse'; because: string } | undefined {
  const harmful = findings.filter(({ flag = '' }) => HARMFUL.has(flag));
  const refused = harmful.find(({ refuse }) => refuse === true);
  if (refused !== undefined) return { kind: 'refuse', because: refused.why };
  return harmful.reduce((sum, { score }) => sum + score, 0) >= JUNK_FROM ? { kind: 'junk' } : undefined;
}

function saidBy(rule: Case['rule'], isHarmful: boolean): Finding[] {
  if (rule === undefined) return [];
  const { kind, why } = rule;
  if (kind === 'block') return [{ rule: 'block-list', score: LISTED, why }];
  return [
    { rule: 'allow-list', score: isHarmful ? 0 : -LISTED, why: isHarmful ? `${why}, but nobody to bring this` : why },
  ];
}

function doubted({ kind, why }: DmarcDecision): Finding[] {
  if (kind === 'pass') return [];
  // What is to be refused, or to come again, may be taken for others all the same, and then has to say why it is junk.
  return [{ rule: 'author', score: kind === 'mark' ? 0 : JUNK_FROM, why, flag: 'unproven-author' }];
}

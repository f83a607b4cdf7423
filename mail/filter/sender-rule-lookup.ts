import { keyedAddress, parseAddress } from '../message/address.ts';
import type { Finding } from '../policy/finding.ts';
import { networksOf } from '../policy/network-pattern.ts';
import type { Sample } from '../policy/sample.ts';
import { senderPatterns, matchSenderRules, type SenderIdentity } from '../policy/sender-rules.ts';
import type { VerdictInput } from '../policy/verdict.ts';
import { authenticatedDomain } from '../policy/author-proof.ts';
import type { Query } from '../store/engine/types.ts';
import { hasSenderRules, senderRules } from '../store/filter/sender-rule.ts';

/** Database that holds the rules. */
interface RuleReader {
  read<I, O>(what: Query<I, O>, input: I): Promise<O>;
}

/** Matching rule of an account or its organization. An unauthenticated sender that matches an allow rule is a finding with score 0. */
export interface SenderRuleResult {
  rule?: NonNullable<VerdictInput['rule']>;
  findings: readonly Finding[];
}

/** Creates the rule lookup for one message. The patterns are computed once, and only if an account has rules. */
export function createSenderRuleLookup(
  reader: RuleReader,
  sample: Sample,
): (account: number) => Promise<SenderRuleResult> {
  let input: { writer: SenderIdentity; patterns: string[] } | undefined;
  return async (account) => {
    if (!(await reader.read(hasSenderRules, { account }))) return { findings: [] };
    input ??= ruleInput(sample);
    const { writer, patterns } = input;
    const ruling = matchSenderRules(await reader.read(senderRules, { account, patterns }), writer);
    if (ruling === undefined) return { findings: [] };
    const { kind, why } = ruling;
    if (kind === 'unproven') return { findings: [{ rule: 'allow-list', score: 0, why }] };
    return { rule: { kind, why }, findings: [] };
  };
}

function ruleInput(sample: Sample): { writer: SenderIdentity; patterns: string[] } {
  const { author, sender, peer } = sample;
  const writer = {
    author: keyedAddress(author),
    sender: parseAddress(sender),
    networks: networksOf(peer.ip),
    aligned: authenticatedDomain(sample) !== '',
  };
  return { writer, patterns: senderPatterns(writer) };
}

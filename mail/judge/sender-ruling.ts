import { keyedAddress, parseAddress } from '../message/address.ts';
import type { Finding } from '../policy/finding.ts';
import { networksOf } from '../policy/network-pattern.ts';
import type { Sample } from '../policy/sample.ts';
import { patternsOf, rulingOn, type Writer } from '../policy/sender-rules.ts';
import type { Case } from '../policy/verdict.ts';
import { vouchedDomain } from '../policy/vouched.ts';
import type { Query } from '../store/engine/types.ts';
import { hasSenderRules, senderRules } from '../store/sender-rule.ts';

/** Where rules are looked up. */
interface Reader {
  read<I, O>(what: Query<I, O>, input: I): Promise<O>;
}

/** What the rules of an account and its organization say; an allowed name that nobody has proved is only told of. */
export interface SaidByRules {
  rule?: NonNullable<Case['rule']>;
  findings: readonly Finding[];
}

/** Asks for one account after another; what is asked about is made ready once, and where nobody has rules never. */
export function senderRulings(reader: Reader, sample: Sample): (account: number) => Promise<SaidByRules> {
  let about: { writer: Writer; patterns: string[] } | undefined;
  return async (account) => {
    if (!(await reader.read(hasSenderRules, { account }))) return { findings: [] };
    about ??= aboutWriter(sample);
    const { writer, patterns } = about;
    const ruling = rulingOn(await reader.read(senderRules, { account, patterns }), writer);
    if (ruling === undefined) return { findings: [] };
    const { kind, why } = ruling;
    if (kind === 'unproven') return { findings: [{ rule: 'allow-list', score: 0, why }] };
    return { rule: { kind, why }, findings: [] };
  };
}

function aboutWriter(sample: Sample): { writer: Writer; patterns: string[] } {
  const { author, sender, peer } = sample;
  const writer = {
    author: keyedAddress(author),
    sender: parseAddress(sender),
    networks: networksOf(peer.ip),
    aligned: vouchedDomain(sample) !== '',
  };
  return { writer, patterns: patternsOf(writer) };
}

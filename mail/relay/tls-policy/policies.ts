import { isIP } from 'node:net';
import type { SecureResolver, TlsaRecord } from '../../dns/lookup.ts';
import type { ReportedPolicy } from '../../store/tls-result.ts';
import type { StsPolicy } from '../../store/sts-policy.ts';
import type { Host } from '../destination.ts';
import { deferred } from '../verdict.ts';
import { chainOf, judgeByAuthorities, judgeByTlsa, usableRecords } from './certificate.ts';
import { daneFor, daneOf, type DaneState } from './dane.ts';
import {
  type Barred,
  type FindHostPolicy,
  type FindTlsPolicy,
  type HostPolicy,
  noDemands,
  opportunistic,
  resultOf,
} from './policy.ts';
import type { StsPolicies, StsState } from './sts-policies.ts';
import { matchesMx } from './sts-text.ts';

export interface TlsPoliciesOptions {
  sts: Pick<StsPolicies, 'of'>;
  /** Only a resolver that validates and can be trusted; without one there is no DANE. */
  secure: SecureResolver | undefined;
  /** ms UTC. */
  now: () => number;
}

/** What domains demand of who sends to them: DANE where a host has it, else MTA-STS, else nothing. RFC 8461 2. */
export function tlsPolicies({ sts, secure, now }: TlsPoliciesOptions): FindTlsPolicy {
  return async (domain) => {
    if (domain.startsWith('[')) return noDemands(domain);
    const [state, dane] = await Promise.all([sts.of(domain), secure && daneFor(secure, domain)]);
    return {
      of: async (host) => byDane((await dane?.of(host)) ?? NO_DANE, domain, host, now) ?? bySts(state, domain, host),
      problems: problemsOf(state, domain),
    };
  };
}

function problemsOf(state: StsState, domain: string) {
  if (state.kind === 'policy' || state.problem === undefined) return [];
  return [resultOf({ domain, type: 'sts', strings: [] }, state.problem.failure, undefined)];
}

const NO_DANE: DaneState = { kind: 'none' };

/** What the TLSA records of a smarthost demand of it; undefined where there are none, or nobody could prove them. */
export function smarthostDane({ secure, now }: Pick<TlsPoliciesOptions, 'secure' | 'now'>): FindHostPolicy {
  return async (host) =>
    secure === undefined || isIP(host.name) !== 0
      ? undefined
      : byDane(await daneOf(secure, host), host.name, host, now);
}

function byDane(state: DaneState, domain: string, host: Host, now: () => number): HostPolicy | Barred | undefined {
  if (state.kind === 'none') return undefined;
  if (state.kind === 'trouble') {
    const text = `whether ${host.name} has TLSA records (DANE) is not known now: ${state.why}; the mail waits until the DNS of ${domain} is in order`;
    const report: ReportedPolicy = { domain, type: 'tlsa', strings: [] };
    return { kind: 'barred', verdict: deferred('4.7.5', text), failure: 'dnssec-invalid', report };
  }
  const { base, records } = state;
  const usable = usableRecords(records);
  const policy: HostPolicy = {
    by: 'dane',
    rule: `the TLSA records of ${base} (DANE)`,
    required: true,
    servername: base,
    report: { domain, type: 'tlsa', strings: records.map(textOf) },
  };
  // RFC 7672 2.2: records that nobody can use still say that there is TLS.
  if (usable.length === 0) return { ...policy, flaw: 'tlsa-invalid' };
  const names = [base, host.name, domain];
  return { ...policy, judge: (socket) => judgeByTlsa(chainOf(socket), usable, names, now()) };
}

function textOf({ usage, selector, matchingType, data }: TlsaRecord): string {
  return `${usage} ${selector} ${matchingType} ${data.toString('hex').slice(0, 200)}`;
}

function bySts(state: StsState, domain: string, host: Host): HostPolicy | Barred {
  if (state.kind === 'none' || state.policy.mode === 'none') return opportunistic(domain, host);
  const { policy } = state;
  const report: ReportedPolicy = { domain, type: 'sts', strings: policy.strings };
  const rule = `the MTA-STS policy of ${domain} (mode ${policy.mode})`;
  const named = matchesMx(policy.mx, host.name);
  return policy.mode === 'testing' ? testing(named, rule, report, host) : enforced(named, rule, report, host, policy);
}

function enforced(
  named: boolean,
  rule: string,
  report: ReportedPolicy,
  host: Host,
  { mx }: StsPolicy,
): HostPolicy | Barred {
  if (named) {
    const judge: HostPolicy['judge'] = (socket) => judgeByAuthorities(socket, host.name);
    return { by: 'mta-sts', rule, required: true, servername: host.name, judge, report };
  }
  const text = `${host.name} is an MX of ${report.domain} that ${rule} does not name (it names ${mx.join(', ').slice(0, 300)}): the operator of ${report.domain} has to put it into the policy, or to take the MX away`;
  return { kind: 'barred', verdict: deferred('4.7.5', text), failure: 'validation-failure', report };
}

/** RFC 8461 5: mail goes as if there were no policy, and what would have failed is counted. */
function testing(named: boolean, rule: string, report: ReportedPolicy, host: Host): HostPolicy {
  const judge: HostPolicy['judge'] = (socket) =>
    named
      ? judgeByAuthorities(socket, host.name)
      : { failure: 'validation-failure', why: `${rule} does not name ${host.name}` };
  return { by: 'mta-sts testing', rule, required: false, servername: host.name, judge, report };
}

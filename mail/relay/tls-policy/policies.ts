import { isIP } from 'node:net';
import type { SecureResolver, TlsaRecord } from '../../dns/lookup.ts';
import type { ReportedPolicy } from '../../store/queue/tls-result.ts';
import type { StsPolicy } from '../../store/queue/sts-policy.ts';
import type { Host } from '../destination.ts';
import { deferred } from '../attempt-verdict.ts';
import { certificateChain, verifyByAuthorities, verifyByTlsa, usableRecords } from './certificate.ts';
import { findDaneDestination, findHostTlsa, type DaneState } from './dane.ts';
import {
  type BarredHost,
  type FindHostPolicy,
  type FindTlsPolicy,
  type HostPolicy,
  noTlsPolicy,
  opportunistic,
  toTlsResult,
} from './policy.ts';
import type { StsPolicies, StsState } from './sts-policies.ts';
import { matchesMx } from './sts-text.ts';

export interface TlsPoliciesOptions {
  sts: Pick<StsPolicies, 'find'>;
  /** Trusted validating resolver; undefined: no DANE. */
  secure: SecureResolver | undefined;
  /** ms UTC. */
  now: () => number;
}

/** Creates the finder of TLS policies: DANE if a host has it, else MTA-STS, else opportunistic. RFC 8461 2. */
export function createTlsPolicyFinder({ sts, secure, now }: TlsPoliciesOptions): FindTlsPolicy {
  return async (domain) => {
    if (domain.startsWith('[')) return noTlsPolicy(domain);
    const [state, dane] = await Promise.all([sts.find(domain), secure && findDaneDestination(secure, domain)]);
    return {
      forHost: async (host) =>
        danePolicy((await dane?.forHost(host)) ?? NO_DANE, domain, host, now) ?? stsPolicy(state, domain, host),
      problems: policyProblems(state, domain),
    };
  };
}

function policyProblems(state: StsState, domain: string) {
  if (state.kind === 'policy' || state.problem === undefined) return [];
  return [toTlsResult({ domain, type: 'sts', strings: [] }, state.problem.failure, undefined)];
}

const NO_DANE: DaneState = { kind: 'none' };

/** Creates the finder of TLSA policies of smarthosts; undefined without validated records. */
export function createSmarthostDane({ secure, now }: Pick<TlsPoliciesOptions, 'secure' | 'now'>): FindHostPolicy {
  return async (host) =>
    secure === undefined || isIP(host.name) !== 0
      ? undefined
      : danePolicy(await findHostTlsa(secure, host), host.name, host, now);
}

function danePolicy(
  state: DaneState,
  domain: string,
  host: Host,
  now: () => number,
): HostPolicy | BarredHost | undefined {
  if (state.kind === 'none') return undefined;
  if (state.kind === 'trouble') {
    const text = `cannot determine the TLSA records (DANE) of ${host.name}: ${state.why}; mail is deferred until the DNS of ${domain} works`;
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
    report: { domain, type: 'tlsa', strings: records.map(describeTlsa) },
  };
  // Unusable TLSA records still require TLS. RFC 7672 2.2.
  if (usable.length === 0) return { ...policy, flaw: 'tlsa-invalid' };
  const names = [base, host.name, domain];
  return { ...policy, verify: (socket) => verifyByTlsa(certificateChain(socket), usable, names, now()) };
}

function describeTlsa({ usage, selector, matchingType, data }: TlsaRecord): string {
  return `${usage} ${selector} ${matchingType} ${data.toString('hex').slice(0, 200)}`;
}

function stsPolicy(state: StsState, domain: string, host: Host): HostPolicy | BarredHost {
  if (state.kind === 'none' || state.policy.mode === 'none') return opportunistic(domain, host);
  const { policy } = state;
  const report: ReportedPolicy = { domain, type: 'sts', strings: policy.strings };
  const rule = `the MTA-STS policy of ${domain} (mode ${policy.mode})`;
  const named = matchesMx(policy.mx, host.name);
  return policy.mode === 'testing'
    ? testingPolicy(named, rule, report, host)
    : enforcedPolicy(named, rule, report, host, policy);
}

function enforcedPolicy(
  named: boolean,
  rule: string,
  report: ReportedPolicy,
  host: Host,
  { mx }: StsPolicy,
): HostPolicy | BarredHost {
  if (named) {
    const verify: HostPolicy['verify'] = (socket) => verifyByAuthorities(socket, host.name);
    return { by: 'mta-sts', rule, required: true, servername: host.name, verify, report };
  }
  const text = `${host.name} is an MX of ${report.domain} that ${rule} does not list (it lists ${mx.join(', ').slice(0, 300)}): the operator of ${report.domain} has to add it to the policy, or to remove the MX`;
  return { kind: 'barred', verdict: deferred('4.7.5', text), failure: 'validation-failure', report };
}

/** Policy in testing mode: mail is sent as without a policy, and failures are counted. RFC 8461 5. */
function testingPolicy(named: boolean, rule: string, report: ReportedPolicy, host: Host): HostPolicy {
  const verify: HostPolicy['verify'] = (socket) =>
    named
      ? verifyByAuthorities(socket, host.name)
      : { failure: 'validation-failure', why: `${rule} does not list ${host.name}` };
  return { by: 'mta-sts testing', rule, required: false, servername: host.name, verify, report };
}

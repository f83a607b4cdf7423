import type { TLSSocket } from 'node:tls';
import type { ReportedPolicy, TlsFailure, TlsResult } from '../../store/queue/tls-result.ts';
import type { Host } from '../destination.ts';
import type { AttemptVerdict } from '../attempt-verdict.ts';
import { type CertificateProblem, verifyByAuthorities } from './certificate.ts';

/** TLS policy of one host. */
export interface HostPolicy {
  by: 'opportunistic' | 'mta-sts' | 'mta-sts testing' | 'dane' | 'requiretls' | 'smarthost';
  /** Source of the policy, as the subject of a sentence. */
  rule: string;
  /** True: mail is sent only over TLS that {@link verify} accepts. False: failures are only counted. */
  required: boolean;
  /** SNI name, '' for none. RFC 7672 8.1. */
  servername: string;
  /** Verifies the certificate; undefined if it is accepted. */
  verify?(socket: TLSSocket): CertificateProblem | undefined;
  /** Problem of the policy itself, counted even if mail is sent. */
  flaw?: TlsFailure;
  /** Policy in TLS-RPT. */
  report: ReportedPolicy;
}

/** Mail must not be sent to this host now. */
export interface BarredHost {
  kind: 'barred';
  verdict: AttemptVerdict;
  failure: TlsFailure;
  report: ReportedPolicy;
}

/** TLS policy of the hosts of a destination. */
export interface DestinationPolicy {
  forHost(host: Host): Promise<HostPolicy | BarredHost>;
  /** Failures while fetching the policy, counted with the first connection. */
  problems: readonly TlsResult[];
}

/** Finds the TLS policy of a domain (A-labels, or an address literal). A rejection defers. */
export type FindTlsPolicy = (domain: string) => Promise<DestinationPolicy>;

/** Finds the TLS policy of one configured host; undefined: none. A rejection defers. */
export type FindHostPolicy = (host: Host) => Promise<HostPolicy | BarredHost | undefined>;

/** TLS requirement of the sender, besides the policy of the receiver. RFC 8689. */
export type TlsRequirement =
  /** REQUIRETLS: verified TLS on every hop. */
  | 'required'
  /** `TLS-Required: No`: ignores the policy of the receiver. */
  | 'optional'
  | 'policy';

/** Opportunistic TLS: if offered, without verification. RFC 7435. */
export function opportunistic(domain: string, host: Host): HostPolicy {
  return {
    by: 'opportunistic',
    rule: 'nothing',
    required: false,
    servername: host.name,
    report: { domain, type: 'no-policy-found', strings: [] },
  };
}

/** Policy of a domain without requirements. */
export function noTlsPolicy(domain: string): DestinationPolicy {
  return { forHost: (host) => Promise.resolve(opportunistic(domain, host)), problems: [] };
}

/** Applies the sender's TLS requirement to the policy of a host. RFC 8689 4.2. */
export function applyTlsRequirement(
  policy: HostPolicy | BarredHost,
  requirement: TlsRequirement,
  host: Host,
): HostPolicy | BarredHost {
  if (requirement === 'optional') return opportunistic(policy.report.domain, host);
  if (requirement === 'policy' || 'kind' in policy || (policy.required && policy.verify !== undefined)) return policy;
  // Without a policy of the receiver, a certificate for its name is required. RFC 8689 4.2.1.
  return {
    ...policy,
    by: 'requiretls',
    rule: 'the sender (REQUIRETLS)',
    required: true,
    verify: (socket) => verifyByAuthorities(socket, host.name),
  };
}

/** Creates the TLS-RPT result of one connection from the source address `from`, or of a failure without one. */
export function toTlsResult(
  report: ReportedPolicy,
  result: TlsResult['result'],
  host: Host | undefined,
  from = '',
): TlsResult {
  return { ...report, result, mx: host?.name ?? '', ip: host?.ip ?? '', from };
}

import type { TLSSocket } from 'node:tls';
import type { ReportedPolicy, TlsFailure, TlsResult } from '../../store/tls-result.ts';
import type { Host } from '../destination.ts';
import type { Verdict } from '../verdict.ts';
import { type Distrust, judgeByAuthorities } from './certificate.ts';

/** What one host has to show before mail is handed to it. */
export interface HostPolicy {
  by: 'opportunistic' | 'mta-sts' | 'mta-sts testing' | 'dane' | 'requiretls' | 'smarthost';
  /** What demands it, as the subject of a sentence. */
  rule: string;
  /** Without TLS that {@link judge} accepts nothing is sent. Else what it says is only counted. */
  required: boolean;
  /** The name that the server is asked for (SNI), '' for none. RFC 7672 8.1. */
  servername: string;
  /** Why this server is not the right one, or undefined when it is. */
  judge?(socket: TLSSocket): Distrust | undefined;
  /** What is wrong with the policy itself: counted also where mail goes. */
  flaw?: TlsFailure;
  /** For TLS-RPT. */
  report: ReportedPolicy;
}

/** Mail may not go to this host now. */
export interface Barred {
  kind: 'barred';
  verdict: Verdict;
  failure: TlsFailure;
  report: ReportedPolicy;
}

/** What is demanded of the hosts of a destination. */
export interface DestinationPolicy {
  of(host: Host): Promise<HostPolicy | Barred>;
  /** What went wrong on the way to the policy itself, to be counted with the first connection. */
  problems: readonly TlsResult[];
}

/** Finds what a domain (A-labels, or an address literal) demands. Rejecting means "later". */
export type FindTlsPolicy = (domain: string) => Promise<DestinationPolicy>;

/** Finds what one host demands that somebody named; undefined: nothing. Rejecting means "later". */
export type FindHostPolicy = (host: Host) => Promise<HostPolicy | Barred | undefined>;

/** What the sender of a message asks for, beside what the receiver demands. RFC 8689. */
export type TlsWish =
  /** REQUIRETLS: no step without verified TLS. */
  | 'required'
  /** `TLS-Required: No`: no policy of the receiver may hold it up. */
  | 'optional'
  | 'policy';

/** TLS when it is offered, whoever it is with. RFC 7435. */
export function opportunistic(domain: string, host: Host): HostPolicy {
  return {
    by: 'opportunistic',
    rule: 'nothing',
    required: false,
    servername: host.name,
    report: { domain, type: 'no-policy-found', strings: [] },
  };
}

/** The policy of who demands nothing. */
export function noDemands(domain: string): DestinationPolicy {
  return { of: (host) => Promise.resolve(opportunistic(domain, host)), problems: [] };
}

/** What is demanded of a host for a message with this wish. RFC 8689 4.2. */
export function wished(policy: HostPolicy | Barred, wish: TlsWish, host: Host): HostPolicy | Barred {
  if (wish === 'optional') return opportunistic(policy.report.domain, host);
  if (wish === 'policy' || 'kind' in policy || (policy.required && policy.judge !== undefined)) return policy;
  // RFC 8689 4.2.1: where the receiver says nothing of how it is to be known, a certificate for its name does.
  return {
    ...policy,
    by: 'requiretls',
    rule: 'the sender (REQUIRETLS)',
    required: true,
    judge: (socket) => judgeByAuthorities(socket, host.name),
  };
}

/** One connection from our address `from`, or none, as TLS-RPT counts it. */
export function resultOf(
  report: ReportedPolicy,
  result: TlsResult['result'],
  host: Host | undefined,
  from = '',
): TlsResult {
  return { ...report, result, mx: host?.name ?? '', ip: host?.ip ?? '', from };
}

import type { Settings } from '../../config/settings.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

/** Settings that the checks read. */
export type CheckedSettings = Pick<
  Settings,
  | 'live'
  | 'hostname'
  | 'baseUrl'
  | 'listen'
  | 'ports'
  | 'resolvers'
  | 'dnssec'
  | 'outboundPort'
  | 'outboundAddresses'
  | 'allowPrivateNetworks'
  | 'exemptNetworks'
  | 'tls'
  | 'acme'
  | 'smarthost'
  | 'trustProxy'
  | 'bootstrap'
  | 'rspamdUrl'
  | 'clamav'
  | 'spamChecks'
>;

/** Facts beside the settings. */
export interface SettingsUse {
  /** A DNS provider publishes the records of every hosted domain. */
  byProvider: boolean;
}

/** One finding about a setting: its line, its sentence, and what to do. */
type SettingRule = (settings: CheckedSettings, use: SettingsUse) => HealthCheck | false;

const warning = (name: string, why: string, fix: string): HealthCheck =>
  unhealthy(`settings: ${name}`, 'warning', why, fix);

const RULES: readonly SettingRule[] = [
  ({ bootstrap }) =>
    bootstrap === 'open' &&
    warning(
      'bootstrap',
      'Anybody on the internet may create an organization here and send mail.',
      'Set MAILSTEAD_BOOTSTRAP=invite or off.',
    ),
  ({ allowPrivateNetworks }) =>
    allowPrivateNetworks.all &&
    warning(
      'private networks',
      'Webhooks, forwards and imports may reach every private network of this machine.',
      'Set MAILSTEAD_ALLOW_PRIVATE_NETWORKS to the hosts that are needed.',
    ),
  ({ ports }, { byProvider }) =>
    ports.dns === undefined &&
    !byProvider &&
    unhealthy(
      'settings: name server',
      'off',
      'The embedded name server is off: DKIM keys are published by hand and do not rotate by themselves.',
      'Connect a DNS provider, or set MAILSTEAD_DNS_PORT=53 and delegate dkim.HOSTNAME to this server (docs/operating.md).',
    ),
  ({ listen, hostname }) =>
    listen.every(isLoopback) &&
    warning(
      'listen',
      `MAILSTEAD_LISTEN has loopback addresses only, although MAILSTEAD_HOSTNAME is ${hostname}: other servers cannot connect.`,
      'Remove MAILSTEAD_LISTEN, unless a proxy on this machine passes the connections on.',
    ),
  ({ baseUrl }) =>
    baseUrl?.startsWith('http://') === true &&
    warning(
      'base URL',
      `MAILSTEAD_BASE_URL is ${baseUrl}: links in mail lead to a page without encryption.`,
      'Change it to https://.',
    ),
  challengeConflict,
  ({ outboundPort, smarthost }) =>
    outboundPort !== 25 &&
    smarthost?.use !== 'always' &&
    warning(
      'outbound port',
      `MAILSTEAD_OUTBOUND_PORT is ${outboundPort}, but mail servers of others listen on port 25.`,
      'Remove MAILSTEAD_OUTBOUND_PORT.',
    ),
  ({ smarthost, outboundAddresses }) =>
    smarthost?.use === 'always' &&
    outboundAddresses !== undefined &&
    warning(
      'smarthost',
      'MAILSTEAD_OUTBOUND_ADDRESSES has no effect on receivers: all mail goes through the smarthost.',
      'Remove MAILSTEAD_OUTBOUND_ADDRESSES or MAILSTEAD_SMARTHOST.',
    ),
  ({ dnssec, resolvers }) =>
    dnssec === 'on' &&
    resolvers?.some(({ host }) => !isLoopback(host)) === true &&
    warning(
      'DNSSEC',
      'MAILSTEAD_DNSSEC=on trusts a resolver on another machine: whoever can change its answers on the way can forge them.',
      'Run a validating resolver on this machine, or remove MAILSTEAD_DNSSEC.',
    ),
  ({ spamChecks, rspamdUrl, clamav }) =>
    !spamChecks &&
    (rspamdUrl !== undefined || clamav !== undefined) &&
    warning(
      'scanners',
      'MAILSTEAD_RSPAMD_URL or MAILSTEAD_CLAMAV is set, but MAILSTEAD_SPAM_CHECKS is off: no message is scanned.',
      'Set MAILSTEAD_SPAM_CHECKS=on, or remove the scanner.',
    ),
  ({ trustProxy }) =>
    trustProxy.some(([, bits]) => bits === 0) &&
    unhealthy(
      'settings: proxy',
      'failed',
      'MAILSTEAD_TRUST_PROXY has every address: any client can forge its own and escape bans.',
      'Set MAILSTEAD_TRUST_PROXY to the addresses of the proxy.',
    ),
  ({ exemptNetworks }) =>
    exemptNetworks.some(([, bits]) => bits === 0) &&
    unhealthy(
      'settings: exempt networks',
      'failed',
      'MAILSTEAD_EXEMPT_NETWORKS has every address: nobody is limited or banned for guessing passwords.',
      'Set MAILSTEAD_EXEMPT_NETWORKS to the networks that need it.',
    ),
];

/** An ACME challenge that no open listener can answer. RFC 8555 8, RFC 8737. */
function challengeConflict({ acme, ports }: CheckedSettings): HealthCheck | false {
  if (acme === undefined || acme.challenge === 'auto') return false;
  const needed = { 'http-01': 'http', 'tls-alpn-01': 'https', 'dns-01': 'dns' } as const;
  const listener = needed[acme.challenge];
  // DNS-01 also works by a CNAME to another zone, which needs the name server all the same.
  if (ports[listener] !== undefined) return false;
  return warning(
    'challenge',
    `MAILSTEAD_ACME_CHALLENGE is ${acme.challenge}, but MAILSTEAD_${listener.toUpperCase()}_PORT is off: no certificate can be issued.`,
    'Open the port, or remove MAILSTEAD_ACME_CHALLENGE.',
  );
}

/** Checks settings that are unsafe or contradict each other. */
export function checkSettings(settings: CheckedSettings, use: SettingsUse): HealthCheck[] {
  if (!settings.live) return [healthy('settings', 'Local mode: no mail leaves this machine until you release it.')];
  const found = RULES.map((rule) => rule(settings, use)).filter((one) => one !== false);
  return found.length > 0 ? found : [healthy('settings', 'The settings do not contradict each other.')];
}

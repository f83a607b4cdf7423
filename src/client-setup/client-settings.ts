import type { Settings } from '../../config/settings.ts';

/** One protocol of a mail program: host name, port and kind of TLS. */
export interface ClientServer {
  host: string;
  port: number;
  tls: 'implicit' | 'starttls';
}

/** Settings for mail programs. The user name is the whole address everywhere. */
export interface ClientSettings {
  /** Implicit TLS first. RFC 8314 3. */
  imap: readonly ClientServer[];
  submission: readonly ClientServer[];
  /** URL of the JMAP session. RFC 8620 2.2. */
  jmapUrl: string;
  baseUrl: string;
  hostname: string;
}

interface SettingsContext {
  settings: Pick<Settings, 'hostname'>;
  /** Ports that were opened. */
  ports: () => Readonly<Partial<Record<string, number>>>;
  baseUrl: () => string;
}

/** URL of the JMAP session. RFC 8620 2.2. */
export const jmapUrlOf = (baseUrl: string): string => `${baseUrl}/.well-known/jmap`;

/** Reads the settings for mail programs from the open listeners. */
export function clientSettings({ settings: { hostname }, ports, baseUrl }: SettingsContext): ClientSettings {
  const open = ports();
  const servers = (implicit: string, starttls: string): ClientServer[] =>
    ([[implicit, 'implicit'] as const, [starttls, 'starttls'] as const] as const).flatMap(([name, tls]) => {
      const port = open[name];
      return port === undefined ? [] : [{ host: hostname, port, tls }];
    });
  return {
    hostname,
    imap: servers('imaps', 'imap'),
    submission: servers('submissions', 'submission'),
    jmapUrl: jmapUrlOf(baseUrl()),
    baseUrl: baseUrl(),
  };
}

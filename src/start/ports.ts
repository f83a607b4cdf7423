/** Ports that were really opened; 0 in the settings takes a free one. */
export type Listeners = Partial<
  Record<'http' | 'https' | 'smtp' | 'submission' | 'submissions' | 'imap' | 'imaps' | 'dns', number>
>;

/** Of the doors that listen; a door that the settings switch off is left out. */
export function portsOf(
  smtp: readonly { door: string; tls: string; port: number }[],
  imap: readonly { tls: string; port: number }[],
  http: readonly { tls: boolean; port: number }[],
): Listeners {
  const smtpPort = (door: string, tls: string): number | undefined =>
    smtp.find((one) => one.door === door && one.tls === tls)?.port;
  const all = {
    http: http.find((one) => !one.tls)?.port,
    https: http.find((one) => one.tls)?.port,
    smtp: smtpPort('mx', 'starttls'),
    submission: smtpPort('submission', 'starttls'),
    submissions: smtpPort('submission', 'implicit'),
    imap: imap.find((one) => one.tls === 'starttls')?.port,
    imaps: imap.find((one) => one.tls === 'implicit')?.port,
  };
  return Object.fromEntries(Object.entries(all).filter(([, port]) => port !== undefined));
}

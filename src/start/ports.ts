/** Actual ports; 0 in the settings selects a free one. */
export type Listeners = Partial<
  Record<'http' | 'https' | 'smtp' | 'submission' | 'submissions' | 'imap' | 'imaps' | 'dns', number>
>;

/** Ports of all open listeners. */
export function openPorts(
  smtp: readonly { service: string; tls: string; port: number }[],
  imap: readonly { tls: string; port: number }[],
  http: readonly { tls: boolean; port: number }[],
): Listeners {
  const smtpPort = (service: string, tls: string): number | undefined =>
    smtp.find((one) => one.service === service && one.tls === tls)?.port;
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

/** Settings of a tenant for mail from outside. */
export interface MailPolicy {
  /**
   * Handling of mail that fails DMARC where the author domain requests reject or quarantine: follow the request, file it in
   * Junk, or only mark it.
   */
  dmarc: 'follow' | 'junk' | 'mark';
  /** Rejected mail stays in Rejects for some days, so that a lost sign-up code can be found. */
  rejects: boolean;
}

/** Default settings. */
export const MAIL_POLICY: MailPolicy = { dmarc: 'follow', rejects: true };

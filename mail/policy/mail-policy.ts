/** What a tenant wants done with mail from outside. */
export interface MailPolicy {
  /**
   * Where the domain of the author asks for mail to be refused or put apart that fails DMARC: do so, put all of it into
   * Junk, or only say so.
   */
  dmarc: 'follow' | 'junk' | 'mark';
  /** Refused mail stays in Rejects for some days, so that a lost sign-up code can be found. */
  rejects: boolean;
}

/** Of a tenant that never said anything. */
export const MAIL_POLICY: MailPolicy = { dmarc: 'follow', rejects: true };

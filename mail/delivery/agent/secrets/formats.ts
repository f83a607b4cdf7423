import type { SecretKind } from '../../../store/shown-secret.ts';

/** What tokens, keys and sessions of this box look like. */
export class SecretFormats {
  readonly #letters: RegExp;
  readonly #written: readonly (readonly [SecretKind, RegExp])[];

  /** `prefix` is what tokens begin with: small letters and digits. */
  constructor(prefix: string) {
    this.#letters = new RegExp(`${prefix}(?:ek|oc|oa|or)?[0-9a-f]{48}`);
    this.#written = [
      ['password', new RegExp(`${prefix}_jm_[0-9a-z]{1,10}_[\\w-]{8}`)],
      ['session', /ses_[0-9a-z]{1,9}\.[0-9a-z]{1,10}\.[\w-]{22}\.[\w-]{32}/],
      ['webhook_secret', /whsec_[a-z0-9+/]{32}/],
    ];
  }

  /** Kinds that stand in a plain text, of which `letters` are the letters and digits. */
  in(plain: string, letters: string): SecretKind[] {
    return this.inSigns(plain.replace(/\s+/g, ''), letters);
  }

  /** The same of a text without blanks. */
  inSigns(signs: string, letters: string): SecretKind[] {
    const written = this.#written.filter(([, form]) => form.test(signs)).map(([kind]) => kind);
    return this.#letters.test(letters) ? ['token', ...written] : written;
  }
}

/** What links that log in carry, cookies of the portal, and what a token is without its prefix. */
export function hasBareSecret(plain: string): boolean {
  return /(?<![\p{L}\p{N}])[0-9a-f]{48}(?![\p{L}\p{N}])/u.test(plain);
}

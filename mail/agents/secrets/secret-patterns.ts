import type { MailStore } from '../../store/store.ts';
import { canaryForms } from '../canary/canary.ts';
import type { EgressWatch } from '../gate/types.ts';
import { type ShownSearch, ShownForms } from './shown-form.ts';
import { type SecretKind, shownSecrets } from './shown-secret.ts';

/** Patterns that a message is scanned for. */
export interface SecretPatterns {
  readonly formats: SecretFormats;
  /** Undefined if nothing was shown and no honeytoken is planted. */
  readonly shown: ShownSearch | undefined;
}

/** Loads the patterns of secrets that must not leave a tenant. `sawSecrets`: agents were shown some. */
export async function loadSecretPatterns(
  store: Pick<MailStore, 'read'>,
  { prefix, key }: Pick<EgressWatch, 'prefix' | 'key'>,
  { tenant, now }: { tenant: number; now: number },
): Promise<SecretPatterns & { sawSecrets: boolean }> {
  const [shown, honeytokens] = await Promise.all([
    store.read(shownSecrets, { tenant, now }),
    store.read(canaryForms, { tenant }),
  ]);
  const forms = [...shown, ...honeytokens];
  return {
    formats: new SecretFormats(prefix),
    shown: forms.length === 0 ? undefined : new ShownForms(key).search(forms),
    sawSecrets: shown.length > 0,
  };
}

/** Formats of this box's tokens, keys and sessions. */
export class SecretFormats {
  readonly #letters: RegExp;
  readonly #written: readonly (readonly [SecretKind, RegExp])[];

  /** `prefix` of tokens: lower case letters and digits. */
  constructor(prefix: string) {
    this.#letters = new RegExp(`${prefix}(?:ek|oc|oa|or)?[0-9a-f]{48}`);
    this.#written = [
      ['password', new RegExp(`${prefix}_jm_[0-9a-z]{1,10}_[\\w-]{8}`)],
      ['session', /ses_[0-9a-z]{1,9}\.[0-9a-z]{1,10}\.[\w-]{22}\.[\w-]{32}/],
      ['webhook_secret', /whsec_[a-z0-9+/]{32}/],
    ];
  }

  /** Finds kinds in a plain text, of which `letters` are the letters and digits. */
  in(plain: string, letters: string): SecretKind[] {
    return this.inSigns(plain.replace(/\s+/g, ''), letters);
  }

  /** Finds kinds in a text without blanks. */
  inSigns(signs: string, letters: string): SecretKind[] {
    const found: SecretKind[] = this.#letters.test(letters) ? ['token'] : [];
    for (const [kind, form] of this.#written) if (form.test(signs)) found.push(kind);
    return found;
  }
}

/** Tests for the secret part of sign-in links, portal cookies and tokens without their prefix. */
export function hasBareSecret(plain: string): boolean {
  return /(?<![\p{L}\p{N}])[0-9a-f]{48}(?![\p{L}\p{N}])/u.test(plain);
}

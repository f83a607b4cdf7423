import { SecretFormats } from '../../mail/agents/secrets/secret-patterns.ts';
import type { ReadDocument } from '../../mail/agents/gate/types.ts';
import { type SecretScanResult, findSecrets } from '../../mail/agents/secrets/find-secrets.ts';
import { ShownForms } from '../../mail/agents/secrets/shown-form.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { SecretKind } from '../../mail/agents/secrets/shown-secret.ts';

const DIGITS = '0123456789abcdef'.repeat(3);

interface Sample {
  name: string;
  kind: SecretKind;
  text: string;
  /** Nothing in its form says what it is: it was shown. */
  shown?: true;
}

/** One of each kind that never leaves. */
export const SECRETS: readonly Sample[] = [
  { name: 'token', kind: 'token', text: `mst_${DIGITS}` },
  { name: 'API key', kind: 'token', text: `mst_ek_${DIGITS}` },
  { name: 'code of OAuth', kind: 'token', text: `mst_oc_${DIGITS}` },
  { name: 'access token', kind: 'token', text: `mst_oa_${DIGITS}` },
  { name: 'refresh token', kind: 'token', text: `mst_or_${DIGITS}` },
  { name: 'password', kind: 'password', text: 'k7mfw-2rtqa-9hgcd-mnp4v-xyz8ab', shown: true },
  { name: 'chosen password', kind: 'password', text: 'Correct!Horse9', shown: true },
  { name: 'mailbox token', kind: 'password', text: 'mst_jm_1_azdtZnctMnJ0cWEtOWhnY2QtbW5wNHYteHl6OGFi', shown: true },
  {
    name: 'signing secret',
    kind: 'webhook_secret',
    text: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq=',
    shown: true,
  },
  { name: 'code', kind: 'code', text: '481516', shown: true },
  { name: 'link', kind: 'link', text: 'https://shop.example/verify/Zk3pQ9xW2vT7mN1b?from=mail', shown: true },
];

const KEY = new Uint8Array(32).fill(7);

/** The kinds that are found in a message, when all of {@link SECRETS} that have no format were shown. */
export async function secretsOf(message: Uint8Array, recipients: readonly string[] = []): Promise<SecretKind[]> {
  return (await lookedThrough(message, recipients)).secrets;
}

/** The same, and what was not looked through. */
export function lookedThrough(
  message: Uint8Array,
  recipients: readonly string[] = [],
  readDocument?: ReadDocument,
): Promise<SecretScanResult> {
  const octets = Buffer.from(message);
  const forms = new ShownForms(KEY);
  const shown = SECRETS.flatMap(({ kind, text, shown: noted }) => (noted ? (forms.make(kind, text) ?? []) : []));
  const read = (start: number, length: number): Promise<Buffer> =>
    Promise.resolve(octets.subarray(start, start + length));
  const sought = { formats: new SecretFormats('mst'), shown: forms.search(shown) };
  return findSecrets({ index: indexMessage(octets), read, recipients, readDocument }, sought);
}

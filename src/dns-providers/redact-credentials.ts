import type { DnsProviderKind, Credentials } from './zone-client.ts';
import type { ProviderTransport } from './transport.ts';

/** Shorter values are no secrets, and are parts of common words. */
const MIN_LENGTH = 6;
const REDACTED = '[credential]';

/**
 * Removes credentials from refusals of a provider. Some quote the token that they refuse: the text is stored, logged, mailed
 * and shown, and credentials are none of that.
 */
export function withoutCredentials(
  transport: ProviderTransport,
  { fields }: Pick<DnsProviderKind, 'fields'>,
  credentials: Credentials,
): ProviderTransport {
  const secrets = fields
    .filter(({ secret }) => secret)
    .flatMap(({ name }) => formsOf(credentials[name] ?? ''))
    // A long form first: a short one may be a part of it.
    .toSorted((a, b) => b.length - a.length);
  return async (what, signal) => {
    const response = await transport(what, signal);
    if (response.status >= 200 && response.status < 300) return response;
    return { ...response, body: secrets.reduce((body, one) => body.replaceAll(one, REDACTED), response.body) };
  };
}

/** The value as it is sent, as it stands in a URL, in JSON and in a request in JSON that JSON quotes. */
function formsOf(value: string): string[] {
  if (value.length < MIN_LENGTH) return [];
  return [...new Set([value, encodeURIComponent(value), inJson(value), inJson(inJson(value))])];
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

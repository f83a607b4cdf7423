/**
 * `refused`: the credentials; `limited`: too many requests; `rejected`: the request; `unavailable`: no usable response.
 */
export type DnsProviderFailure = 'refused' | 'limited' | 'rejected' | 'unavailable';

/** A failed request to a DNS provider, in a sentence for people. */
export class DnsProviderError extends Error {
  override readonly name = 'DnsProviderError';
  readonly failure: DnsProviderFailure;
  /** Time that the provider demands before the next request. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: DnsProviderFailure, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.failure = failure;
    this.retryAfterMs = options.retryAfterMs;
  }
}

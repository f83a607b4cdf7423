/** The caller of an operation that may take long. */
export interface StreamClient {
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  /** Reports progress, if the caller asked for it. */
  readonly progress?: ((done: number, of: number) => void) | undefined;
}

/**
 * Accepted proposals that this process is carrying out. One that was accepted, has no outcome and is not here nobody carries
 * out any more: the process ended in the middle, or the outcome could not be written down.
 */
export class UnderWay {
  readonly #counts = new Map<number, number>();

  /** Begun before a proposal is accepted and disposed of after its outcome is written: there is no moment between. */
  begin(proposal: number): Disposable {
    this.#counts.set(proposal, (this.#counts.get(proposal) ?? 0) + 1);
    return { [Symbol.dispose]: () => this.#end(proposal) };
  }

  has(proposal: number): boolean {
    return this.#counts.has(proposal);
  }

  /** Several people may accept the same at once; all but one are told that somebody was faster. */
  #end(proposal: number): void {
    const left = (this.#counts.get(proposal) ?? 1) - 1;
    if (left > 0) this.#counts.set(proposal, left);
    else this.#counts.delete(proposal);
  }
}

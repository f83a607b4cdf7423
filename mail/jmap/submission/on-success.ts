import { realId } from '../created.ts';
import type { Call } from '../method.ts';

/** What a client wants done to emails once they are sent. RFC 8621 7.5. */
interface Wishes {
  onSuccessUpdateEmail: ReadonlyMap<string, Record<string, unknown>> | null;
  onSuccessDestroyEmail: readonly string[] | null;
}

/** Remembers which submissions of a call succeeded, and of which emails they are. */
export class OnSuccess {
  readonly #emails = new Map<string, string>();

  note(submissionId: string, emailId: string): void {
    this.#emails.set(submissionId, emailId);
  }

  /** The arguments of the one implicit Email/set; undefined when there is nothing to do. */
  emailSet(
    call: Pick<Call, 'createdIds'>,
    { onSuccessUpdateEmail, onSuccessDestroyEmail }: Wishes,
  ): { update?: Record<string, unknown>; destroy?: string[] } | undefined {
    const update = [...(onSuccessUpdateEmail ?? [])].flatMap(([name, patch]) => {
      const email = this.#emailOf(call, name);
      return email === undefined ? [] : [[email, patch] as const];
    });
    const destroy = (onSuccessDestroyEmail ?? []).flatMap((name) => this.#emailOf(call, name) ?? []);
    if (update.length + destroy.length === 0) return undefined;
    return {
      ...(update.length > 0 && { update: Object.fromEntries(update) }),
      ...(destroy.length > 0 && { destroy: [...new Set(destroy)] }),
    };
  }

  #emailOf(call: Pick<Call, 'createdIds'>, name: string): string | undefined {
    const id = realId(call, name);
    return id === undefined ? undefined : this.#emails.get(id);
  }
}

import type { MailboxView } from './imap-store.ts';

/** A view that can be taken away from its session while the mailbox exists. */
export interface RevocableView {
  readonly view: MailboxView;
  /** Makes the view gone for its session, and calls its listeners. */
  revoke(): void;
}

/** Wraps a view; `closed` is called once when the session closes it. */
export function revocableView(inner: MailboxView, closed: () => void): RevocableView {
  let revoked = false;
  const listeners = new Set<() => void>();
  const own: Partial<Record<PropertyKey, unknown>> = {
    onChange(listener: () => void): () => void {
      listeners.add(listener);
      const stop = inner.onChange(listener);
      return () => {
        listeners.delete(listener);
        stop();
      };
    },
    close(): void {
      closed();
      inner.close();
    },
  };
  const view = new Proxy(inner, {
    get(target, name): unknown {
      if (name === 'gone') return revoked || target.gone;
      if (Object.hasOwn(own, name)) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      // Bound once each: the methods are called for every message.
      return typeof value === 'function' ? (own[name] = value.bind(target) as unknown) : value;
    },
  });
  return {
    view,
    revoke() {
      revoked = true;
      for (const listener of listeners) listener();
    },
  };
}

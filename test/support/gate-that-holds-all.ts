import { registerHooks } from 'node:module';

const GATE = new URL('../../mail/agents/gate/gate.ts', import.meta.url).href;
const REPLACEMENT = new URL('held-mail.ts', import.meta.url).href;
const HOOKED = Symbol.for('mailstead.gate-that-holds-all');

/**
 * Lets the agent gate hold every mail. It is a setup file of the project `held`, because a module is replaced before it is
 * loaded: a test file imports it to be run in that project (test/suites.ts), which all such files share.
 */
if (!(HOOKED in globalThis)) {
  Object.assign(globalThis, { [HOOKED]: true });
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      return found.url === GATE ? { ...found, url: REPLACEMENT } : found;
    },
  });
}

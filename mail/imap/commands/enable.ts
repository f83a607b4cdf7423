import { writeHighestModseq } from '../condstore.ts';
import { isAdvertised } from '../capabilities.ts';
import { ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { enabledNamed } from '../enabled.ts';

/**
 * ENABLE. RFC 5161, RFC 9051 6.3.1. Ignores names that are unknown or not advertised; ENABLED is sent also when nothing was
 * enabled.
 */
export const enable: ImapCommand<readonly string[]> = {
  name: 'ENABLE',
  states: LOGGED_IN,
  capabilities: [
    'ENABLE',
    'UTF8=ACCEPT',
    { name: 'UIDONLY', isOffered: ({ login, context }) => login !== undefined && context.uidOnly },
  ],

  parse(d) {
    const names: string[] = [];
    do names.push(d.sp().word());
    while (!d.trailing());
    return names;
  },

  run(session, names) {
    const known = [...new Set(names.map(enabledNamed))].filter((name) => name !== undefined);
    const enabled = known.filter((name) => isAdvertised(session, name));
    const hadCondstore = session.enabled.has('CONDSTORE');
    for (const name of enabled) session.enable(name);
    session.write(`${['* ENABLED', ...enabled].join(' ')}\r\n`);
    if (!hadCondstore && session.enabled.has('CONDSTORE')) writeHighestModseq(session);
    return ok('Enabled');
  },
};

import { auth } from './auth.ts';
import { bdat } from './bdat.ts';
import type { SmtpCommand } from './command.ts';
import { data } from './data.ts';
import { ehlo } from './ehlo.ts';
import { expn } from './expn.ts';
import { helo } from './helo.ts';
import { help } from './help.ts';
import { mail } from './mail.ts';
import { noop } from './noop.ts';
import { quit } from './quit.ts';
import { rcpt } from './rcpt.ts';
import { rset } from './rset.ts';
import { starttls } from './starttls.ts';
import { vrfy } from './vrfy.ts';

const all = [ehlo, helo, mail, rcpt, data, bdat, rset, noop, quit, vrfy, expn, help, starttls, auth];

/** Commands by verb in upper case. Their arguments are typed in each file and opaque here. */
export const commands: ReadonlyMap<string, SmtpCommand<object>> = new Map<string, SmtpCommand<object>>(
  all.map((command) => [command.name, command]),
);

import { renderUnicodeCompact } from 'uqr';
import { resultOf, type SetupOutcome, type SetupTerminal } from './setup-terminal.ts';

const open = (detail: string): SetupOutcome => ({ step: 'phone', state: 'open', detail });

/** Shows the code that sets up a phone, where somebody names one. Done once a device has an app password. */
export async function phoneStep(
  { call, ask, print }: SetupTerminal,
  address: string,
  given: string | undefined,
): Promise<SetupOutcome> {
  const { appPasswords } = await resultOf<{ appPasswords: { name: string }[] }>(
    call('list_app_passwords', { address }),
  );
  const [first] = appPasswords;
  if (given === undefined && first !== undefined)
    return { step: 'phone', state: 'done', detail: `A device has an app password of ${address}: ${first.name}.` };
  const name = given ?? (await ask('Phone to set up now, such as "phone of Kim" (nothing: later): '));
  if (name === undefined || name === '') return open('Name one: mailstead setup --device "phone of Kim"');
  const { url, expiresAt } = await resultOf<{ url: string; expiresAt: string }>(
    call('create_device_link', { address, name }),
  );
  print(renderUnicodeCompact(url, { ecc: 'L', border: 2 }));
  print('      Scan this code with the camera of the phone. iPhone and iPad download a profile there: then Settings,');
  print('      Profile Downloaded, Install. Another device shows the settings to enter.');
  return open(`Or open this link on the phone; it works once, until ${expiresAt}: ${url}`);
}

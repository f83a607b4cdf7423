import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { rememberPlain, writesPlain } from './compose-state.ts';
import { IconButton } from './icons.ts';
import type { MailIdentity } from './jmap-types.ts';
import { methods, throwRefusals } from './jmap.ts';
import { LanguageSettings } from './language-settings.ts';
import { fieldTime } from './later-times.ts';
import { homeFolder, identities, loadIdentities } from './mail-state.ts';
import { attempt, showNotice } from './notices.ts';
import { ownsAccount } from './rights.ts';
import { go } from './route.ts';
import { SenderSettings } from './sender-settings.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface VacationSettings {
  isEnabled: boolean;
  fromDate: string | null;
  toDate: string | null;
  subject: string | null;
  textBody: string | null;
}

const vacation = signal<VacationSettings | undefined>(undefined);

async function loadVacation(): Promise<void> {
  const [result] = await methods(['VacationResponse/get', { ids: ['singleton'] }]);
  vacation.value = ((result?.['list'] ?? []) as VacationSettings[])[0];
}

/** Settings of the mailbox: vacation response, names and signatures, and how messages are written. */
export function SettingsPage() {
  useEffect(() => {
    if (ownsAccount()) void attempt(loadVacation);
  }, []);
  const close = (): void => go({ folder: homeFolder(), search: '' });
  return html`<section class="settings" aria-label=${t('app.settings')}>
    <header class="list-head">
      <${IconButton} icon="back" label=${t('settings.back')} onClick=${close} />
      <h1>${t('app.settings')}</h1>
    </header>
    <div class="settings-body">
      ${vacation.value !== undefined && html`<${VacationForm} saved=${vacation.value} />`}
      ${ownsAccount() && identities.value.map((one) => html`<${IdentityForm} key=${one.id} identity=${one} />`)}
      <${LanguageSettings} />
      ${ownsAccount() && html`<${SenderSettings} />`}
      <fieldset>
        <legend>${t('settings.writing')}</legend>
        <label class="check">
          <input type="checkbox" checked=${writesPlain.value} onChange=${() => rememberPlain(!writesPlain.value)} />
          ${t('settings.write-plain')}
        </label>
      </fieldset>
    </div>
  </section>`;
}

function textIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

function dateIn(form: FormData, name: string): string | null {
  const at = new Date(textIn(form, name));
  return Number.isNaN(at.getTime()) ? null : at.toISOString().replace(/\.\d+Z$/, 'Z');
}

async function saveVacation(form: FormData): Promise<void> {
  const patch = {
    isEnabled: form.has('enabled'),
    fromDate: dateIn(form, 'from'),
    toDate: dateIn(form, 'to'),
    subject: textIn(form, 'subject') === '' ? null : textIn(form, 'subject'),
    textBody: textIn(form, 'text'),
  };
  const [result] = await methods(['VacationResponse/set', { update: { singleton: patch } }]);
  throwRefusals(result ?? {}, t('error.not-saved'));
  await loadVacation();
  showNotice(patch.isEnabled ? t('settings.vacation-on') : t('settings.vacation-off'));
}

/** Runs an action with the fields of the form that is submitted. */
function onSubmit(action: (form: FormData) => Promise<void>): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    void attempt(() => action(form));
  };
}

interface TextAreaProps {
  name: string;
  rows: string;
  maxlength: string;
  saved: string;
}

/** A field whose text is set once: a repaint would erase what is typed, and screen readers take a default value for a part of the label. */
function TextArea({ name, rows, maxlength, saved }: TextAreaProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (field.current !== null) field.current.value = saved;
  }, []);
  return html`<textarea name=${name} rows=${rows} maxlength=${maxlength} ref=${field}></textarea>`;
}

function VacationForm({ saved }: { saved: VacationSettings }) {
  const field = (iso: string | null): string => (iso === null ? '' : fieldTime(new Date(iso)));
  return html`<form onSubmit=${onSubmit(saveVacation)}>
    <fieldset>
      <legend>${t('settings.vacation')}</legend>
      <p class="soft">${t('settings.vacation-hint')}</p>
      <label class="check"
        ><input type="checkbox" name="enabled" defaultChecked=${saved.isEnabled} /> ${t('settings.answer')}</label
      >
      <div class="pair">
        <label
          >${t('settings.from')} <input type="datetime-local" name="from" defaultValue=${field(saved.fromDate)}
        /></label>
        <label
          >${t('settings.until')} <input type="datetime-local" name="to" defaultValue=${field(saved.toDate)}
        /></label>
      </div>
      <label
        >${t('header.subject')}
        <input name="subject" maxlength="500" placeholder="Re: ..." defaultValue=${saved.subject ?? ''}
      /></label>
      <label
        >${t('settings.response')}
        <${TextArea} name="text" rows="6" maxlength="100000" saved=${saved.textBody ?? ''} />
      </label>
      <button class="primary">${t('settings.save-response')}</button>
    </fieldset>
  </form>`;
}

/** Its fields keep what is typed while another form is saved and the identities are read again. */
function IdentityForm({ identity }: { identity: MailIdentity }) {
  const save = async (form: FormData): Promise<void> => {
    const patch = { name: textIn(form, 'name'), textSignature: textIn(form, 'signature'), htmlSignature: '' };
    const [result] = await methods(['Identity/set', { update: { [identity.id]: patch } }]);
    throwRefusals(result ?? {}, t('error.not-saved'));
    await loadIdentities();
    showNotice(t('settings.identity-saved'));
  };
  return html`<form onSubmit=${onSubmit(save)}>
    <fieldset>
      <legend>${identity.email}</legend>
      <label
        >${t('settings.name')} <input name="name" maxlength="255" autocomplete="name" defaultValue=${identity.name}
      /></label>
      <label
        >${t('settings.signature')}
        <${TextArea} name="signature" rows="4" maxlength="60000" saved=${identity.textSignature} />
      </label>
      <button class="primary">${t('settings.save-identity')}</button>
    </fieldset>
  </form>`;
}

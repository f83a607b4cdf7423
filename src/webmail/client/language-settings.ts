import { postForm } from './jmap.ts';
import { attempt } from './notices.ts';
import { LOCALE, t } from './translate.ts';
import { html } from './view.ts';

/** Languages of web mail, each in its own words. */
const LANGUAGES = [
  ['en', 'English'],
  ['de', 'Deutsch'],
  ['es', 'Español'],
] as const;

const baseOf = (tag: string): string => tag.split('-', 1)[0] ?? '';

/** Settings: the language of web mail. Without a choice it is the first of the browser's languages that there is. */
export function LanguageSettings() {
  const { languageChoice = '' } = document.documentElement.dataset;
  const choose = (event: Event): void => {
    const language = (event.target as HTMLSelectElement).value;
    void attempt(async () => {
      await postForm('/mail/language', { language });
      location.reload();
    });
  };
  const wanted = missingLanguage();
  return html`<fieldset>
    <legend>${t('settings.language')}</legend>
    <label
      >${t('settings.language-of')}
      <select value=${languageChoice} onChange=${choose}>
        <option value="">${t('settings.language-browser')}</option>
        ${LANGUAGES.map(([tag, name]) => html`<option value=${tag} lang=${tag}>${name}</option>`)}
      </select>
    </label>
    ${
      languageChoice === '' &&
      wanted !== undefined &&
      html`<p class="soft">${t('settings.language-missing', { wanted })}</p>`
    }
  </fieldset>`;
}

/** Name of the browser's language, if web mail has none of those that it asks for. */
function missingLanguage(): string | undefined {
  if (navigator.languages.some((tag) => LANGUAGES.some(([known]) => known === baseOf(tag)))) return undefined;
  return new Intl.DisplayNames(LOCALE, { type: 'language' }).of(navigator.language);
}

/** Words of the scripts. */
interface ScriptWords {
  readonly copy: string;
  readonly copyOf: (name: string) => string;
  readonly copied: string;
  readonly copyFailed: string;
  readonly search: string;
  readonly searchHint: string;
  readonly results: string;
  readonly searchFailed: string;
  readonly nothingFound: string;
  readonly resultCount: (count: number) => string;
  readonly live: string;
  readonly connecting: string;
  readonly paused: string;
  readonly pause: string;
  readonly resume: string;
  readonly linesSkipped: (count: number) => string;
}

const ENGLISH_WORDS: ScriptWords = {
  copy: 'Copy',
  copyOf: (name) => `Copy ${name}`,
  copied: 'Copied',
  copyFailed: 'Copying failed: select the text',
  search: 'Search',
  searchHint: 'Mailboxes, domains, messages, pages, actions',
  results: 'Results',
  searchFailed: 'The search failed. Reload the page.',
  nothingFound: 'Nothing found',
  resultCount: (count) => (count === 1 ? '1 result' : `${count} results`),
  live: 'Live',
  connecting: 'Connecting',
  paused: 'Paused',
  pause: 'Pause',
  resume: 'Resume',
  linesSkipped: (count) => `${count} lines are not shown`,
};

const GERMAN_WORDS: ScriptWords = {
  copy: 'Kopieren',
  copyOf: (name) => `${name} kopieren`,
  copied: 'Kopiert',
  copyFailed: 'Kopieren fehlgeschlagen: Markieren Sie den Text',
  search: 'Suche',
  searchHint: 'Postfächer, Domains, Nachrichten, Seiten, Aktionen',
  results: 'Ergebnisse',
  searchFailed: 'Die Suche ist fehlgeschlagen. Laden Sie die Seite neu.',
  nothingFound: 'Nichts gefunden',
  resultCount: (count) => (count === 1 ? '1 Ergebnis' : `${count} Ergebnisse`),
  live: 'Laufend aktualisiert',
  connecting: 'Verbindung wird hergestellt',
  paused: 'Angehalten',
  pause: 'Anhalten',
  resume: 'Fortsetzen',
  linesSkipped: (count) => (count === 1 ? '1 Zeile wird nicht angezeigt' : `${count} Zeilen werden nicht angezeigt`),
};

const SPANISH_WORDS: ScriptWords = {
  copy: 'Copiar',
  copyOf: (name) => `Copiar ${name}`,
  copied: 'Copiado',
  copyFailed: 'No se pudo copiar: seleccione el texto',
  search: 'Buscar',
  searchHint: 'Buzones, dominios, mensajes, páginas, acciones',
  results: 'Resultados',
  searchFailed: 'La búsqueda falló. Vuelva a cargar la página.',
  nothingFound: 'No se encontró nada',
  resultCount: (count) => (count === 1 ? '1 resultado' : `${count} resultados`),
  live: 'En directo',
  connecting: 'Conectando',
  paused: 'En pausa',
  pause: 'Pausar',
  resume: 'Reanudar',
  linesSkipped: (count) => (count === 1 ? 'No se muestra 1 línea' : `No se muestran ${count} líneas`),
};

const WORDS: Readonly<Record<string, ScriptWords>> = { en: ENGLISH_WORDS, de: GERMAN_WORDS, es: SPANISH_WORDS };

/** Language of the page around an element: parts that are not translated are marked as English. */
export function languageAround(element: Element): string {
  return element.closest<HTMLElement>('[lang]')?.lang ?? 'en';
}

/** Words in the language of the page around an element. */
export function wordsAround(element: Element): ScriptWords {
  return WORDS[languageAround(element)] ?? ENGLISH_WORDS;
}

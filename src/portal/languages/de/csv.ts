import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about the import of addresses from a CSV file. */
export const csv = {
  'csv.about':
    'Legt Postfächer und Aliasse aus einer CSV-Datei an. Sie sehen, was geschehen wird, bevor etwas angelegt wird.',
  'csv.hint':
    'Je eine Zeile: Adresse,Name,Alias von. Mit einem dritten Feld wird die Adresse ein Alias jenes Postfachs. Höchstens {most} Zeilen.',
  'csv.file': 'CSV-Datei',
  'csv.empty': 'Nichts geändert: Die Datei hat keine Zeilen. Geben Sie mindestens eine Zeile mit einer Adresse an.',
  'csv.preview': 'Vorschau',
  'csv.preview-title': 'Vorschau: {mailboxes} und {aliases} anzulegen, {refused}',
  'csv.created-count': { one: '{count} Adresse angelegt', other: '{count} Adressen angelegt' },
  'csv.mailboxes': { one: '{count} Postfach', other: '{count} Postfächer' },
  'csv.aliases': { one: '{count} Alias', other: '{count} Aliasse' },
  'csv.refused-count': { one: '{count} Zeile abgelehnt', other: '{count} Zeilen abgelehnt' },
  'csv.create': { one: '{count} Adresse anlegen', other: '{count} Adressen anlegen' },
  'csv.to-create': 'Anzulegende Zeilen',
  'csv.line': 'Zeile',
  'csv.alias-of': '{action} von {address}',
  'csv.refused-rows': 'Abgelehnte Zeilen',
  'csv.refused': 'Abgelehnt',
  'csv.created': 'Angelegt',
  'csv.nothing': 'Nichts wurde angelegt',
  'csv.nothing-text': 'Die Gründe stehen unten.',
  'csv.all': 'Alle Postfächer',

  'csv-row.too-many': 'Eine Datei hat höchstens {value} Zeilen. Legen Sie diese Zeile in eine andere Datei.',
  'csv-row.long': 'Die Zeile ist länger als {value} Zeichen.',
  'csv-row.quote': 'Ein Anführungszeichen ist nicht geschlossen, oder es folgt Text darauf.',
  'csv-row.fields': 'Die Zeile hat mehr als drei Felder: Adresse, Name, Alias von.',
  'csv-row.address': '„{value}“ ist keine E-Mail-Adresse.',
  'csv-row.twice': 'Die Datei hat diese Adresse zweimal.',
  'csv-row.domain': '{value} ist keine Domain dieser Organisation. Fügen Sie sie zuerst hinzu.',
  'csv-row.mailbox': 'Ein Postfach hat diese Adresse bereits.',
  'csv-row.alias': 'Ein Alias hat diese Adresse bereits.',
  'csv-row.target': '{value} ist weder ein Postfach dieser Organisation noch dieser Datei.',
} satisfies Partial<PortalCatalog>;

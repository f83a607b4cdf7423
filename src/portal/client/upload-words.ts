import { languageAround } from './words.ts';

/** Words of the form that uploads a file of mail. */
export interface UploadWords {
  readonly preparing: string;
  readonly uploading: (name: string, percent: number, size: string) => string;
  readonly uploaded: (name: string) => string;
  readonly stopped: string;
  readonly empty: (name: string) => string;
  readonly unreadable: (name: string) => string;
  readonly compressed: (name: string) => string;
  readonly noMail: (name: string) => string;
  readonly unreachable: string;
  readonly notCreated: string;
  readonly connectionLost: string;
  /** An upload that ended. The sentence of the server is English, and of use in English only. */
  readonly lost: (said: string | undefined) => string;
  readonly fromBeginning: string;
  readonly largeParts: string;
  readonly serverError: (status: number) => string;
}

const ENGLISH_UPLOAD: UploadWords = {
  preparing: 'Preparing the upload.',
  uploading: (name, percent, size) => `Uploading ${name}: ${percent} % of ${size}.`,
  uploaded: (name) => `Uploaded ${name}. The import runs: the list above shows how far it is.`,
  stopped: 'Upload stopped. Select Import to go on where it ended, or cancel the import in the list.',
  empty: (name) => `${name} is empty. Choose another file.`,
  unreadable: (name) => `${name} cannot be read. It may have been moved: choose it again.`,
  compressed: (name) => `${name} is compressed with gzip. Unpack it, then choose the result.`,
  noMail: (name) => `${name} is not a file of mail. Choose an mbox or EML file, or a zip file of such files.`,
  unreachable: 'The server cannot be reached. Check the network, then select Import again.',
  notCreated: 'The upload was not created: you may be signed out. Reload the page, then try again.',
  connectionLost:
    'The connection was lost. Check the network, then select Import again: the upload goes on where it ended.',
  lost: (said) => said ?? 'The upload has ended.',
  fromBeginning: 'Select Import to upload from the beginning.',
  largeParts: 'A proxy before this server refuses parts of 16 MB: raise its limit for request bodies.',
  serverError: (status) =>
    `The server answered with an error (${status}). Select Import again: the upload goes on where it ended.`,
};

const GERMAN_UPLOAD: UploadWords = {
  preparing: 'Der Upload wird vorbereitet.',
  uploading: (name, percent, size) => `${name} wird hochgeladen: ${percent} % von ${size}.`,
  uploaded: (name) => `${name} ist hochgeladen. Der Import läuft: Die Liste oben zeigt, wie weit er ist.`,
  stopped:
    'Upload angehalten. Wählen Sie „Importieren“, um dort weiterzumachen, oder brechen Sie den Import in der Liste ab.',
  empty: (name) => `${name} ist leer. Wählen Sie eine andere Datei.`,
  unreadable: (name) => `${name} lässt sich nicht lesen. Vielleicht wurde sie verschoben: Wählen Sie sie erneut.`,
  compressed: (name) => `${name} ist mit gzip komprimiert. Entpacken Sie die Datei, und wählen Sie das Ergebnis.`,
  noMail: (name) =>
    `${name} ist keine Datei mit E-Mails. Wählen Sie eine mbox- oder EML-Datei oder eine ZIP-Datei mit solchen.`,
  unreachable: 'Der Server ist nicht erreichbar. Prüfen Sie das Netz, und wählen Sie noch einmal „Importieren“.',
  notCreated:
    'Der Upload wurde nicht angelegt: Vielleicht sind Sie abgemeldet. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  connectionLost:
    'Die Verbindung ist abgebrochen. Prüfen Sie das Netz, und wählen Sie noch einmal „Importieren“: Der Upload geht dort weiter, wo er geendet hat.',
  lost: () => 'Der Upload ist beendet.',
  fromBeginning: 'Wählen Sie „Importieren“, um von vorn hochzuladen.',
  largeParts:
    'Ein Proxy vor diesem Server lehnt Teile von 16 MB ab: Erhöhen Sie dort die Grenze für den Inhalt von Anfragen.',
  serverError: (status) =>
    `Der Server hat mit einem Fehler geantwortet (${status}). Wählen Sie noch einmal „Importieren“: Der Upload geht dort weiter, wo er geendet hat.`,
};

const SPANISH_UPLOAD: UploadWords = {
  preparing: 'Preparando la subida.',
  uploading: (name, percent, size) => `Subiendo ${name}: ${percent} % de ${size}.`,
  uploaded: (name) => `${name} se ha subido. La importación está en curso: la lista de arriba muestra cuánto lleva.`,
  stopped: 'Subida detenida. Seleccione «Importar» para continuar donde terminó, o cancele la importación en la lista.',
  empty: (name) => `${name} está vacío. Elija otro archivo.`,
  unreadable: (name) => `${name} no se puede leer. Puede que se haya movido: elíjalo de nuevo.`,
  compressed: (name) => `${name} está comprimido con gzip. Descomprímalo y elija el resultado.`,
  noMail: (name) => `${name} no es un archivo de correo. Elija un archivo mbox o EML, o un zip con esos archivos.`,
  unreachable: 'No se puede conectar con el servidor. Compruebe la red y seleccione «Importar» de nuevo.',
  notCreated:
    'La subida no se creó: puede que su sesión se haya cerrado. Vuelva a cargar la página e inténtelo de nuevo.',
  connectionLost:
    'Se perdió la conexión. Compruebe la red y seleccione «Importar» de nuevo: la subida continúa donde terminó.',
  lost: () => 'La subida ha terminado.',
  fromBeginning: 'Seleccione «Importar» para subir desde el principio.',
  largeParts:
    'Un proxy delante de este servidor rechaza partes de 16 MB: aumente su límite para el cuerpo de las solicitudes.',
  serverError: (status) =>
    `El servidor respondió con un error (${status}). Seleccione «Importar» de nuevo: la subida continúa donde terminó.`,
};

const UPLOADS: Readonly<Record<string, UploadWords>> = {
  en: ENGLISH_UPLOAD,
  de: GERMAN_UPLOAD,
  es: SPANISH_UPLOAD,
};

/** Words of uploads in the language of the page around an element. */
export function uploadWordsAround(element: Element): UploadWords {
  return UPLOADS[languageAround(element)] ?? ENGLISH_UPLOAD;
}

/** A sentence of the server, with its language. */
export class ServerSentence extends Error {
  readonly language: string;

  constructor(text: string, language = 'en') {
    super(text);
    this.language = language;
  }
}

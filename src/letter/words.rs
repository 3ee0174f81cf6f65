//! The words by which mail programs of many languages lead to a quote.
//!
//! All in lower case, and as [`clean`](super::clean::clean) leaves them.

/// What a line of a quoted header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    From,
    Date,
    To,
    Subject,
}

const FROM: &[&str] = &[
    "from", "von", "de", "da", "van", "från", "fra", "od", "от", "от кого", "от кого", "lähettäjä", "gönderen",
    "kimden", "差出人", "送信者", "发件人", "發件人", "寄件者", "寄件人", "보낸 사람", "보낸사람", "feladó", "από", "expéditeur",
    "remitente", "remetente", "mittente", "absender", "afzender", "avsändare", "afsender", "avsender", "від", "nadawca",
    "odesílatel", "odosielateľ", "pošiljatelj", "pošiljatelj", "de la", "expeditor", "מאת", "من", "จาก", "dari", "từ",
    "người gửi", "nuo", "no", "saatja", "подател", "ik", "kimdan", "dirigeant",
];

const DATE: &[&str] = &[
    "date", "sent", "gesendet", "datum", "envoyé", "date d'envoi", "enviado", "enviado el", "enviada em", "enviada",
    "enviat", "fecha", "data", "inviato", "data invio", "verzonden", "skickat", "sendt", "dato", "wysłano", "data wysłania",
    "odesláno", "odoslané", "poslano", "poslané", "отправлено", "дата", "дата отправки", "lähetetty", "päivämäärä",
    "päiväys", "pvm", "gönderildi", "gönderme tarihi", "gönderilme tarihi", "tarih", "送信日時", "日付", "日時", "发送时间",
    "发送日期", "日期", "寄件日期", "傳送時間", "時間", "时间", "보낸 날짜", "보낸날짜", "날짜", "elküldve", "dátum", "küldve", "στάλθηκε",
    "ημερομηνία", "αποστολή", "надіслано", "надсилання", "изпратено", "trimis", "trimisă", "expediat", "נשלח", "תאריך",
    "بتاريخ", "تاريخ الإرسال", "التاريخ", "ส่ง", "วันที่", "dikirim", "tanggal", "đã gửi", "ngày", "išsiųsta", "nosūtīts",
    "saadetud", "kuupäev", "sent on", "dated",
];

const TO: &[&str] = &[
    "to", "an", "à", "para", "a", "per", "aan", "till", "til", "do", "komu", "кому", "vastaanottaja", "kime", "alıcı",
    "宛先", "收件人", "收件者", "받는 사람", "받는사람", "címzett", "προς", "către", "catre", "destinataire", "destinatario",
    "destinatário", "destinatari", "empfänger", "ontvanger", "mottagare", "modtager", "mottaker", "adresat", "příjemce",
    "príjemca", "za", "prima", "до", "אל", "إلى", "ถึง", "kepada", "ke", "đến", "tới", "kam", "kellele", "saaja", "до кого",
    "cc", "kopie", "copie", "kopia", "kopi", "копия", "copia", "cópia", "kopio", "bilgi", "抄送", "副本", "참조", "másolatot kap",
    "κοιν", "κοινοποίηση", "копія", "עותק", "reply-to", "reply to", "antwort an", "répondre à", "responder a",
];

const SUBJECT: &[&str] = &[
    "subject", "betreff", "betrifft", "thema", "objet", "asunto", "assunto", "assumpte", "oggetto", "onderwerp", "ämne",
    "emne", "temat", "předmět", "predmet", "тема", "aihe", "konu", "件名", "主题", "主題", "主旨", "标题", "제목", "tárgy", "θέμα",
    "subiect", "נושא", "الموضوع", "เรื่อง", "perihal", "subjek", "chủ đề", "tema", "temats", "teema", "zadeva", "относно",
    "naslov", "gaia",
];

/// What the label of a header line, without its colon, stands for.
pub fn label(text: &str) -> Option<Label> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '-')).to_lowercase();
    let is = |list: &[&str]| list.contains(&text.as_str());
    if is(FROM) {
        Some(Label::From)
    } else if is(DATE) {
        Some(Label::Date)
    } else if is(SUBJECT) {
        Some(Label::Subject)
    } else if is(TO) {
        Some(Label::To)
    } else {
        None
    }
}

/// "Wrote", as attribution lines have it.
pub const WROTE: &[&str] = &[
    "wrote", "writes", "schrieb", "a écrit", "écrit", "escribió", "escribio", "escrigué", "va escriure", "scrisse",
    "ha scritto", "scritto", "escreveu", "skrev", "schreef", "geschreven", "napisał", "napisała", "napisał(a)", "pisze",
    "написал", "написала", "написал(а)", "пишет", "пише", "написав", "написа", "kirjoitti", "yazdı", "yazmış", "şunu yazdı",
    "写道", "寫道", "写了", "のメール", "書きました", "さんは", "작성", "님이", "írta", "írja", "έγραψε", "a scris", "כתב", "כתבה",
    "כתב/ה", "كتب", "كتبت", "تمت كتابة", "เขียน", "đã viết", "viết", "menulis", "napsal", "napsal(a)", "napsala", "napísal",
    "napísal(a)", "napisao", "napisala", "je napisao", "rašė", "rakstīja", "kirjutas", "idatzi", "skrifaði", "sent by",
    "va escriure el dia", "missatge de", "odesílatel", "ha scrit", "tulis", "sumulat", "scríobh", "schreift", "schreef op",
    "said", "le envió", "hat geschrieben", "님이 씀", "작성함", "发送", "shkroi", "напиша",
];

/// How lines begin that lead to a quote and may be wrapped before they come to the point.
pub const LEADS: &[&str] = &[
    "on ", "am ", "le ", "el ", "il ", "em ", "op ", "den ", "dne ", "dňa ", "w dniu ", "în ", "in data ", "στις ", "на ",
    "vào ", "pada ", "у ", "в ", "a(z) ", "kontakt ", "v v ", "il giorno ", "missatge de", "بتاريخ", "في ", "בתאריך", "dana ",
    "quoting ", "citando ", "il messaggio", "zitat von ", "citaat ", "il ", "dia ", "no dia ", "från:", "po ", "wt ", "śr ",
    "czw ", "pt ", "sob ", "niedz ", "--- on ", "---- on ", "in reply to", "in a message dated", "fre ", "man ", "ons ",
    "tors ", "lør ", "lör ", "søn ", "sön ", "tis ", "tir ", "mån ", "ma ", "ti ", "ke ", "to ", "pe ", "la ", "su ",
    "po ", "út ", "st ", "čt ", "pá ", "so ", "ne ", "пн", "вт", "ср", "чт", "пт", "сб", "вс", "нд",
];

/// Inside the dashes of the line above a quoted letter.
pub const ORIGINAL: &[&str] = &[
    "original message", "original-nachricht", "originalnachricht", "ursprüngliche nachricht", "ursprüngliche mail",
    "ursprungsnachricht", "original mail", "original email", "original appointment", "message d'origine",
    "message original", "message initial", "mail original", "mensaje original", "correo original", "mensagem original",
    "missatge original", "messaggio originale", "messaggio di origine", "oorspronkelijk bericht", "origineel bericht",
    "oorspronkelijke bericht", "ursprungligt meddelande", "originalmeddelande", "oprindelig meddelelse",
    "originalmeddelelse", "opprinnelig melding", "original melding", "wiadomość oryginalna", "oryginalna wiadomość",
    "původní zpráva", "pôvodná správa", "исходное сообщение", "оригинальное сообщение", "вихідне повідомлення",
    "оригинално съобщение", "alkuperäinen viesti", "orijinal mesaj", "orijinal ileti", "özgün ileti", "元のメッセージ",
    "オリジナルメッセージ", "原始邮件", "原始郵件", "原邮件", "邮件原件", "원본 메시지", "원본메일", "원본 이메일", "eredeti üzenet",
    "αρχικό μήνυμα", "mesaj original", "mesajul original", "הודעה מקורית", "الرسالة الأصلية", "izvorna poruka",
    "originalna poruka", "izvirno sporočilo", "reply message", "originalus laiškas", "algne sõnum", "algkiri", "tin nhắn gốc",
    "thư gốc", "pesan asli",
];

/// Inside the dashes of the line above a forwarded letter, or alone on a line.
pub const FORWARDED: &[&str] = &[
    "forwarded message", "forwarded mail", "forwarded by", "forward message", "weitergeleitete nachricht",
    "weitergeleiteten nachricht", "weitergeleitet", "message transféré", "message transfere", "mensaje reenviado",
    "mensagem encaminhada", "mensagem reencaminhada", "missatge reenviat", "messaggio inoltrato", "doorgestuurd bericht",
    "doorgestuurd e-mailbericht", "vidarebefordrat meddelande", "vidarebefordrat", "videresendt", "przekazana wiadomość",
    "wiadomość przekazana", "přeposlaná zpráva", "preposlaná správa", "пересылаемое сообщение", "пересланное сообщение",
    "перенаправлене повідомлення", "välitetty viesti", "edelleenlähetetty", "iletilen mesaj", "yönlendirilen", "转发的邮件",
    "转发邮件", "轉寄的郵件", "転送されたメッセージ", "転送", "전달된 메시지", "전달된 메일", "továbbított üzenet",
    "προωθημένο μήνυμα", "mesaj redirecționat", "mesaj redirectionat", "proslijeđena poruka", "begin forwarded message",
    "הודעה שהועברה", "رسالة معاد توجيهها",
];

/// What phones and web mailers put under a letter, at the start of a line.
pub const SENT_FROM: &[&str] = &[
    "sent from my ", "sent from mail", "sent from outlook", "sent from yahoo", "sent from proton", "sent from samsung",
    "sent from gmail", "sent from aol", "sent from icloud", "sent from an ", "sent from a ", "sent from the ", "sent from tutanota",
    "sent from zimbra", "sent from nine", "sent from spark", "sent from blue", "sent from aqua", "sent from fairemail",
    "sent from bluemail", "sent from typeapp", "sent from canary", "sent via ", "sent with ", "sent using ", "get outlook for",
    "download outlook", "get bluemail", "gesendet mit ", "gesendet von ", "gesendet über ", "gesendet aus ", "von meinem ",
    "von meiner ", "diese nachricht wurde von mein", "von unterwegs gesendet", "holen sie sich outlook", "outlook für ",
    "envoyé de ", "envoyé depuis ", "envoyé à partir", "envoyé avec ", "envoyé par ", "télécharger outlook", "obtenez outlook",
    "enviado desde ", "enviado del ", "enviado de mi", "enviado con ", "obtener outlook", "enviado do ", "enviado a partir",
    "enviado via ", "enviado pelo ", "enviado por ", "obter outlook", "obter o outlook", "inviato da ", "inviato dal ",
    "inviato con ", "scarica outlook", "ottieni outlook", "verstuurd vanaf ", "verzonden vanaf ", "verzonden met ",
    "verzonden vanuit", "verstuurd met", "outlook voor ", "skickat från ", "skickat med ", "skaffa outlook", "hämta outlook",
    "sendt fra ", "sendt med ", "hent outlook", "få outlook", "skaff deg outlook", "lähetetty ", "hanki outlook",
    "wysłane z ", "wysłano z ", "wysłane przy ", "pobierz outlook", "odesláno z ", "odesláno ze ", "získat outlook",
    "odoslané z ", "získajte outlook", "отправлено с ", "отправлено из ", "отправлено от ", "надіслано з ", "скачать outlook",
    "изпратено от ", "elküldve ", "az iphone-omról küldve", "az iphonomról", "küldve ", "trimis de pe ", "trimis din ",
    "εστάλη από ", "στάλθηκε από ", "poslano s ", "poslano z ", "poslano sa ", "išsiųsta iš ", "nosūtīts no ",
    "saadetud minu ", "发自", "發自", "从我的", "從我的", "나의 ", "내 iphone", "נשלח מ", "أرسلت من", "تم الإرسال", "مرسل من",
    "ส่งจาก", "được gửi từ", "dikirim dari", "iphone'umdan ", "iphone umdan", "ipad'imden", "android için", "yahoo mail:",
    "yahoo mail -", "virus-free", "virenfrei", "sans virus", "libre de virus", "this email has been checked for viruses",
    "diese e-mail wurde von avast", "diese e-mail wurde auf viren", "l'absence de virus", "questa e-mail è stata controllata",
    "el software de antivirus avast", "mail.com", "www.avast.com", "sent on the go", "get your free email",
    "--- sent with", "skickat via", "senden sie von",
];

/// What phones put under a letter, at the end of a line.
pub const SENT_FROM_ENDS: &[&str] = &[
    "から送信", "gönderildi", "で送信", "에서 보냄", "傳送", "发送", "傳送的", "gesendet", "lähetetty", "gesendet.", "küldve", "küldve.",
    "gönderildi.",
];

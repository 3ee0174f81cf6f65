//! Letters in each language, and their wishes.

use super::*;

fn read(text: &str) -> Spoken {
    let lines: Vec<&str> = text.lines().collect();
    let today = NaiveDate::from_ymd_opt(2026, 11, 26).expect("a day");
    read_remarks(&Line::numbered(&lines), "Bo Berg", true, today)
}

fn topic(text: &str) -> Option<Topic> {
    read(text).topic
}

#[test]
fn each_language_wishes_for_more_time() {
    for text in [
        "Can I have three more days please?",
        "Könnt ihr die Frist um drei Tage verschieben?",
        "Pourrais-je avoir un délai de trois jours ?",
        "¿Podría tener una prórroga de tres días?",
        "Vorrei una proroga di tre giorni.",
        "Preciso de uma prorrogação de três dias.",
        "Mag ik drie dagen uitstel?",
        "Proszę o przedłużenie o trzy dni.",
        "Prosím o prodloužení o tři dny.",
        "Прошу продлить срок на три дня.",
        "Üç gün ek süre rica ediyorum.",
        "3日間延長していただけますか？",
        "Kan jag få tre dagar till?",
        "Skulle fristen kunna förlängas med tre dagar?",
    ] {
        let read = read(text);
        assert_eq!((read.topic, read.span.days), (Some(Topic::MoreTime), Some(3)), "{text}");
    }
}

#[test]
fn each_language_names_the_days_of_an_absence() {
    for text in [
        "We're off skiing from 20 December to 3 January, no internet up there.",
        "Bin vom 20.12. bis 3.1. im Skiurlaub, bitte Frist verschieben.",
        "Je suis en vacances du 20 décembre au 3 janvier.",
        "Estaré de vacaciones del 20 de diciembre al 3 de enero.",
        "Sarò in ferie dal 20 dicembre al 3 gennaio.",
        "Vou estar fora de 20 de dezembro a 3 de janeiro.",
        "Ik ben op vakantie van 20 december tot 3 januari.",
        "Nie będzie mnie od 20 grudnia do 3 stycznia.",
        "Budu na dovolené od 20. prosince do 3. ledna.",
        "Меня не будет с 20 декабря по 3 января.",
        "20 Aralık'tan 3 Ocak'a kadar tatildeyim.",
        "12月20日から1月3日まで旅行で不在です。",
        "Jag är bortrest från den 20 december till den 3 januari.",
        "jag ar pa semester 20/12 till 3 januari",
    ] {
        let read = read(text);
        let days = read.span.both().map(|(from, to)| (from.to_string(), to.to_string()));
        let expected = ("2026-12-20".to_owned(), "2027-01-03".to_owned());
        assert_eq!((read.topic, days), (Some(Topic::Absence), Some(expected)), "{text}");
    }
}

#[test]
fn a_date_that_can_be_read_in_two_ways_is_unclear() {
    assert!(read("I am away until 12/1.").span.unclear.is_some());
    assert!(read("I am away until 24/12.").span.unclear.is_none());
    let days = |text: &str| read(text).span.both().map(|(from, to)| (to - from).num_days() + 1);
    assert_eq!(days("I will be away for two weeks."), Some(14));
    assert_eq!(days("I am away next week."), Some(7));
    assert_eq!(days("I'm on holiday until 1 December."), Some(6));
    assert_eq!(days("I am travelling from 1 December."), None, "the last day is missing");
}

#[test]
fn grief_and_illness_are_understood_in_each_language() {
    for text in [
        "My mother died on Saturday.",
        "Meine Mutter ist gestorben.",
        "Ma mère est décédée.",
        "Mi madre ha muerto.",
        "È morta mia madre.",
        "A minha mãe morreu.",
        "Mijn moeder is overleden.",
        "Zmarła moja mama.",
        "Zemřela mi maminka.",
        "У меня умерла бабушка.",
        "Babam vefat etti.",
        "母が亡くなりました。",
        "Min mamma har gått bort.",
        "Min far dog i natt.",
    ] {
        assert_eq!(read(text).care, Some(Care::Grief), "{text}");
    }
    for text in [
        "I am in hospital, please pause my game.",
        "Hold everything please, I'm in hospital with a broken leg.",
        "ich liege seit gestern im Krankenhaus (Blinddarm).",
        "Je suis à l'hôpital.",
        "Estoy en el hospital.",
        "Sono in ospedale per un'operazione",
        "Estou no hospital.",
        "Ik lig in het ziekenhuis.",
        "Jestem w szpitalu.",
        "Jsem v nemocnici.",
        "Я в больнице.",
        "Hastanedeyim.",
        "入院しています。",
        "Jag ligger på sjukhus.",
        "Min fru är sjuk",
        "My wife is ill",
        "Liege seit Sonntag mit Grippe im Bett, Befehle kommen später.",
        "Ho la febbre a 39 e sono a letto, scusate.",
        "Попал в больницу с аппендицитом, пока играть не могу.",
    ] {
        assert_eq!(read(text).care, Some(Care::Illness), "{text}");
    }
}

#[test]
fn losses_in_the_match_are_no_grief() {
    for text in [
        "My carrier died.",
        "Ship 3 died at B2, what a funeral!",
        "Mann, ich habe verloren!",
        "You killed my last cruiser, my friend.",
        "Your operation was brilliant.",
    ] {
        assert_eq!(read(text).care, None, "{text}");
    }
    assert_eq!(read("Ship me your condolences: my father died yesterday.").care, Some(Care::Grief));
}

#[test]
fn a_negated_phrase_is_no_wish() {
    assert_eq!(topic("I don't want to resign, never, no rematch either"), None);
    assert_eq!(topic("I don't want to play any more, please take me off your list."), Some(Topic::Leave));
    assert_eq!(topic("It is not a draw yet."), None);
}

#[test]
fn a_message_to_the_opponent_is_taken_from_the_letter() {
    assert_eq!(read("Tell Bo: great game, and happy birthday!").message, ["great game, and happy birthday!"]);
    let spanish = read("Dile a Bo que es un gran rival y que le deseo feliz Navidad.");
    assert_eq!(spanish.message, ["es un gran rival y que le deseo feliz Navidad."]);
    assert_eq!(topic("Tell me about the club"), None);
    assert_eq!(read("Please extend my thanks to Bo for the lovely game").topic, Some(Topic::Tell));
}

#[test]
fn the_name_of_the_opponent_may_have_an_ending_and_words_that_link_it() {
    for (text, message) in [
        ("Could you let Bo know that I enjoyed that last game?", "I enjoyed that last game?"),
        ("Vyřiď prosím Bovi, že se omlouvám za zpoždění.", "se omlouvám za zpoždění."),
        ("Boさんに「いい勝負でした」とお伝えください。", "いい勝負でした"),
        ("Hälsa Bo att det var ett fint drag.", "det var ett fint drag."),
        ("Richte Bo bitte von mir aus: alles Gute zur Hochzeit!", "alles Gute zur Hochzeit!"),
        ("Bo'ya selam söyle: harika bir oyun", "harika bir oyun"),
        ("Please tell Bo the party is at 20:00", "the party is at 20:00"),
    ] {
        assert_eq!(read(text).message, [message], "{text}");
    }
}

#[test]
fn a_first_day_without_a_month_has_that_of_the_last() {
    for text in [
        "We are on holiday from 20 to 31 December.",
        "Ich bin vom 20. bis 31. Dezember im Urlaub.",
        "Nous partons en vacances du 20 au 31 décembre.",
        "Del 20 al 31 de diciembre estaré fuera.",
        "Od 20 do 31 grudnia jestem na urlopie.",
        "С 20 по 31 декабря буду в отпуске.",
        "Jag är borta från 20 till 31 december.",
        "Jag är borta den 20:e till den 31:a december.",
    ] {
        let days = read(text).span.both().map(|(from, to)| (from.to_string(), to.to_string()));
        assert_eq!(days, Some(("2026-12-20".to_owned(), "2026-12-31".to_owned())), "{text}");
    }
}

#[test]
fn agreement_is_told_from_a_wish() {
    for text in [
        "I agree with the extension",
        "Mit der Verlängerung bin ich einverstanden.",
        "D'accord pour le délai",
        "Jag går med på en förlängning.",
    ] {
        assert!(read(text).agrees, "{text}");
    }
    for text in
        ["May I have an extension?", "I don't agree with the extension", "Is an extension ok with you?"]
    {
        assert!(!read(text).agrees, "{text}");
    }
}

#[test]
fn a_new_address_is_taken_from_the_letter() {
    let read =
        read("meine Adresse ändert sich. Ab sofort bitte nur noch an heinz.neu@posteo.example schreiben.");
    assert_eq!(read.address.map(|address| address.to_string()).as_deref(), Some("heinz.neu@posteo.example"));
}

#[test]
fn other_wishes_are_understood() {
    for (text, expected) in [
        ("Danke!! Super Bericht :-)", Topic::Thanks),
        ("ありがとうございます！", Topic::Thanks),
        ("Quiero la revancha :)", Topic::Rematch),
        ("Mi arrendo. Complimenti al mio avversario!", Topic::Resign),
        ("Proponuję remis.", Topic::Draw),
        ("Shall we call it a draw?", Topic::Draw),
        ("Kannst du mir den letzten Bericht bitte noch einmal schicken?", Topic::Report),
        ("Waarom heb ik geen verslag gekregen van beurt 1?", Topic::Report),
        ("Dzień dobry, dlaczego nie dostałem raportu po pierwszej turze?", Topic::Report),
        ("Bom dia! Onde posso ler as regras deste jogo?", Topic::Rules),
        ("Come faccio a catturare una stella? Non ho capito le regole.", Topic::Rules),
        ("Как мне отменить приказ, который я послал?", Topic::Withdraw),
        ("Please ignore the orders I just sent, I need to think again.", Topic::Withdraw),
        ("can I change my orders after I sent them??", Topic::Change),
        ("Merhaba, sıra bende mi?", Topic::Due),
        ("Wann läuft meine Frist ab?", Topic::Due),
        ("Ciao! A chi tocca?", Topic::Due),
        ("Who is this Bo Berg? Do I know him? Can I have his e-mail address?", Topic::OpponentName),
        ("Stop mailing me or I will report you as spam.", Topic::LessMail),
        ("To je podvod, soupeř přece nemohl vědět, kde jsem. Stěžuji si!", Topic::Foul),
        ("¡Esto es una vergüenza! Mi rival hace trampas y el árbitro no hace nada.", Topic::Foul),
        ("That was fun. Can I get another game, against somebody stronger?", Topic::Opponent),
        ("Is there a ranking list? What is my rating?", Topic::Ranking),
        ("Meine letzte Mail an euch kam zurück:", Topic::Arrived),
        ("Bonjour, j'ai reçu ceci, est-ce que mon ordre est arrivé ?", Topic::Arrived),
        ("前回のメールが「宛先不明」で戻ってきました。手は届いていますか？", Topic::Arrived),
        (
            "Crazy week at work, I won't manage it by Thursday. Any chance of a couple more days?",
            Topic::MoreTime,
        ),
        ("Kann ich vier Tage mehr haben?", Topic::MoreTime),
        ("Hola, ¿me podéis dar un par de días más? Estoy de exámenes.", Topic::MoreTime),
        ("Ciao, potrei avere qualche giorno in più?", Topic::MoreTime),
        ("Oi, dá pra me dar mais uns dias? Semana de provas aqui...", Topic::MoreTime),
        ("Hoi, het lukt me niet voor donderdag. Mag ik een paar dagen extra?", Topic::MoreTime),
        ("Cześć, czy mogę prosić o kilka dni więcej?", Topic::MoreTime),
        ("Ahoj, mohl bych dostat pár dní navíc? Nestíhám to.", Topic::MoreTime),
        ("Не успеваю к четвергу, можно ещё пару дней?", Topic::MoreTime),
        ("Merhaba, bu hafta çok yoğunum, birkaç gün daha verebilir misiniz?", Topic::MoreTime),
        ("仕事が立て込んでおり、あと三日ほどお時間をいただけないでしょうか。", Topic::MoreTime),
        (
            "Hi, ab Montag bin ich zwei Wochen an der Ostsee und habe da kein Netz. Was muss ich tun?",
            Topic::Absence,
        ),
        (
            "Guten Abend, der Bericht von Runde 1 ist bei mir nie angekommen. Könnten Sie ihn nochmals schicken?",
            Topic::Report,
        ),
        ("Non ho ricevuto il resoconto dell'ultimo turno, me lo rimandi?", Topic::Report),
        ("Ups, das war Quatsch, bitte den letzten Befehl wieder streichen.", Topic::Withdraw),
        ("Scusate, ho sbagliato, vorrei annullare l'ultimo ordine.", Topic::Withdraw),
        ("すみません、間違えました。先ほどの命令を取り消したいです。", Topic::Withdraw),
        ("Je ne comprends rien aux règles, où puis-je les trouver ?", Topic::Rules),
        ("Vocês receberam o meu movimento?", Topic::Arrived),
        ("Došly vám moje rozkazy?", Topic::Arrived),
        ("Kdo je vlastně můj soupeř?", Topic::OpponentName),
        ("Mijn mailadres verandert: gebruik voortaan sanne@nieuw.example", Topic::Address),
        ("Vyřiď prosím Bovi, že se omlouvám za zpoždění.", Topic::Tell),
        ("THIS IS RIDICULOUS!!! I have sent my orders THREE TIMES. Fix it or I'm out.", Topic::Foul),
        ("Can you just set it up for me please?", Topic::Setup),
        ("Kannst du mir bitte einfach eine fertige Aufstellung geben?", Topic::Setup),
        ("Pode montar a minha frota por mim?", Topic::Setup),
        ("NEVER MIND", Topic::NeverMind),
        ("Schon gut, hat sich erledigt.", Topic::NeverMind),
        ("Nieważne!", Topic::NeverMind),
    ] {
        assert_eq!(topic(text), Some(expected), "{text}");
    }
    assert_eq!(topic("À toi de jouer, Bo ! Belle attaque l'autre jour."), None);
}

#[test]
fn wishes_in_swedish_are_understood_with_and_without_its_letters() {
    for (text, expected) in [
        ("Tack för en fin rapport!", Topic::Thanks),
        ("Jag ger upp. Grattis!", Topic::Resign),
        ("Jag föreslår remi.", Topic::Draw),
        ("Ska vi spela en revansch?", Topic::Rematch),
        ("Kan jag få ett parti till, mot någon starkare motståndare?", Topic::Opponent),
        ("Jag har inte fått rapporten, kan du skicka den igen?", Topic::Report),
        ("Var hittar jag reglerna?", Topic::Rules),
        ("jag fattar inte hur jag drar", Topic::Rules),
        ("Jag vill ta tillbaka mina order.", Topic::Withdraw),
        ("Stryk mitt drag, tack.", Topic::Withdraw),
        ("Kan jag ändra mitt drag?", Topic::Change),
        ("När måste jag svara senast?", Topic::Due),
        ("Vem är min motståndare?", Topic::OpponentName),
        ("Kom mitt drag fram?", Topic::Arrived),
        ("Jag byter adress: skriv till mig på anna@ny.example", Topic::Address),
        ("Ta bort mig, jag vill inte spela längre.", Topic::Leave),
        ("För många mejl från er, sluta skicka!", Topic::LessMail),
        ("Det här är orättvist, han fuskar!", Topic::Foul),
        ("Kan vi pausa partiet?", Topic::Pause),
        ("Vad betyder stjärnan på kartan?", Topic::Legend),
        ("Finns det någon topplista?", Topic::Ranking),
        ("Kan du välja en uppställning åt mig?", Topic::Setup),
        ("Jag hinner inte till torsdag, går det bra med ett par dagar till?", Topic::MoreTime),
        ("Glöm det, det löste sig.", Topic::NeverMind),
        ("kan jag fa rapporten en gang till", Topic::Report),
        ("nar maste jag svara", Topic::Due),
    ] {
        assert_eq!(topic(text), Some(expected), "{text}");
    }
}

#[test]
fn short_answers_in_words_are_understood_and_others_are_not() {
    let answer = |text: &str| word_answer(&Line::numbered(&text.lines().collect::<Vec<_>>()));
    for text in [
        "Yes",
        "ok",
        "Yes, please!",
        "I accept.",
        "Ja gern",
        "Oui, d'accord",
        "Sí, acepto",
        "Sì, volentieri",
        "Sim",
        "Ja hoor",
        "Tak, zgoda",
        "Ano, souhlasím",
        "Да, согласен",
        "Evet, kabul ediyorum",
        "はい",
        "はい、お願いします",
        "Hi,\n\nyes please.\n\nCy",
        "Ja tack",
        "Javisst, gärna!",
        "Okej, jag accepterar.",
    ] {
        assert_eq!(answer(text), Some(WordAnswer::Yes), "{text}");
    }
    for text in [
        "No thanks",
        "Nein danke",
        "Non merci",
        "No, gracias",
        "No grazie",
        "Não, obrigado",
        "Nee, bedankt",
        "Nie, dziękuję",
        "Ne, děkuji",
        "Нет, спасибо",
        "Hayır",
        "いいえ",
        "Nej tack",
        "Nej, tyvärr inte",
    ] {
        assert_eq!(answer(text), Some(WordAnswer::No), "{text}");
    }
    for text in [
        "Yes, that was me.",
        "Das war ich",
        "C'était moi",
        "Fui yo",
        "это был я",
        "bendim",
        "Ja, det var jag.",
    ] {
        assert_eq!(answer(text), Some(WordAnswer::WasMe), "{text}");
    }
    for text in [
        "",
        "Yes?",
        "no",
        "nie",
        "Yes, if you give me a week",
        "Yes but not now",
        "Thanks",
        "Cy",
        "I agree with you that it rains",
    ] {
        assert_eq!(answer(text), None, "{text}");
    }
}

#[test]
fn an_address_is_found_among_words_that_no_blank_separates() {
    for text in
        ["友達のケンと対戦したいです.ken@friend.example です.", "新しいアドレスはken@friend.exampleです。"]
    {
        let address = read(text).address.map(|address| address.to_string());
        assert_eq!(address.as_deref(), Some("ken@friend.example"), "{text}");
    }
}

/// Questions and wishes of each language, and their topics.
const ASKED: [(Topic, &[&str]); 6] = [
    (
        Topic::Due,
        &[
            "Has Bo sent his orders yet?",
            "Hat Bo schon gezogen?",
            "Est-ce que Bo a déjà envoyé ses ordres ?",
            "¿Ya ha movido Bo?",
            "Bo ha già mandato i suoi ordini?",
            "O Bo já jogou?",
            "Heeft Bo al gespeeld?",
            "Czy Bo już wysłał rozkazy?",
            "Už Bo poslal rozkazy?",
            "Бо уже прислал приказы?",
            "Bo hamlesini yaptı mı?",
            "ボーさんはもう命令を送りましたか？",
            "Har Bo skickat sina order?",
        ],
    ),
    (
        Topic::Report,
        &[
            "Who's winning?",
            "Can you send me the map again?",
            "Wer führt denn gerade?",
            "Kannst du mir die Karte noch mal schicken?",
            "Qui est en train de gagner ?",
            "Pouvez-vous me renvoyer la carte ?",
            "¿Quién va ganando?",
            "¿Me puedes mandar el mapa otra vez?",
            "Chi sta vincendo?",
            "Puoi rimandarmi la mappa?",
            "Quem está ganhando?",
            "Pode me mandar o mapa de novo?",
            "Wie staat er voor?",
            "Kun je me de kaart nog eens sturen?",
            "Kto wygrywa?",
            "Czy możesz mi jeszcze raz wysłać mapę?",
            "Kdo vede?",
            "Můžeš mi poslat mapu ještě jednou?",
            "Кто выигрывает?",
            "Пришлите мне карту ещё раз, пожалуйста.",
            "Kim kazanıyor?",
            "Haritayı tekrar gönderir misin?",
            "今どちらが勝っていますか？",
            "地図をもう一度送ってください。",
            "Vem leder just nu?",
            "Kan du skicka kartan en gång till?",
        ],
    ),
    (
        Topic::Late,
        &[
            "What happens if I don't send anything in time?",
            "Was passiert, wenn ich die Frist verpasse?",
            "Que se passe-t-il si je n'envoie rien à temps ?",
            "¿Qué pasa si no mando nada a tiempo?",
            "Cosa succede se non mando niente in tempo?",
            "O que acontece se eu não mandar nada a tempo?",
            "Wat gebeurt er als ik niets op tijd stuur?",
            "Co się stanie, jeśli nic nie wyślę na czas?",
            "Co se stane, když nic nepošlu včas?",
            "Что будет, если я ничего не пришлю вовремя?",
            "Zamanında bir şey göndermezsem ne olur?",
            "締切に間に合わなかったらどうなりますか？",
            "Vad händer om jag inte skickar något i tid?",
        ],
    ),
    (
        Topic::Settings,
        &[
            "Please call me Annie from now on.",
            "Bitte nennt mich ab jetzt Anni.",
            "Appelez-moi Annette désormais, s'il vous plaît.",
            "Llámenme Anita a partir de ahora, por favor.",
            "D'ora in poi chiamatemi Annina, per favore.",
            "A partir de agora me chamem de Aninha, por favor.",
            "Noem me voortaan Anneke, alsjeblieft.",
            "Proszę mówić mi teraz Ania.",
            "Říkejte mi prosím od teď Anička.",
            "Зовите меня теперь Аней, пожалуйста.",
            "Bundan sonra bana Anni deyin lütfen.",
            "これからはアニーと呼んでください。",
            "Kalla mig Annika hädanefter, tack.",
        ],
    ),
    (
        Topic::Opponent,
        &[
            "I'd like to play against my friend Carl, carl@friend.example. How do I do that?",
            "J'aimerais jouer contre mon ami Luc, luc@ami.example.",
            "Quiero jugar contra mi amigo Luis, luis@amigo.example.",
            "Vorrei giocare contro il mio amico Luca, luca@amico.example.",
            "Quero jogar contra o meu amigo Rui, rui@amigo.example.",
            "Ik wil graag tegen mijn vriend Piet spelen, piet@vriend.example.",
            "Chcę zagrać z moim kolegą Janem, jan@kolega.example.",
            "Chci hrát s kamarádem Petrem, petr@kamarad.example.",
            "Хочу сыграть с другом Петей, petya@drug.example.",
            "Arkadaşım Can ile oynamak istiyorum, can@arkadas.example.",
            "友達のケンと対戦したいです。ken@tomodachi.example です。",
            "Jag vill spela mot min kompis Lasse, lasse@kompis.example.",
        ],
    ),
    (
        Topic::History,
        &[
            "Can I see all the moves so far?",
            "Wo finde ich den bisherigen Spielverlauf?",
            "Où puis-je voir tous les coups joués jusqu'ici ?",
            "¿Dónde veo todas las jugadas?",
            "Dove trovo tutte le mosse della partita?",
            "Onde vejo todas as jogadas?",
            "Waar vind ik alle zetten?",
            "Gdzie znajdę wszystkie ruchy?",
            "Kde najdu všechny tahy?",
            "Где посмотреть все ходы?",
            "Tüm hamleleri nerede görebilirim?",
            "これまでの手はどこで見られますか？",
            "Var kan jag se alla drag hittills?",
        ],
    ),
];

#[test]
fn each_language_asks_about_the_match_and_the_letters() {
    for (expected, texts) in ASKED {
        for text in texts {
            assert_eq!(topic(text), Some(expected), "{text}");
        }
    }
}

#[test]
fn days_of_a_month_are_read_with_ordinals_articles_and_longer_words_for_until() {
    let day = |month, day| NaiveDate::from_ymd_opt(2026, month, day);
    for (text, from, to) in [
        ("I'm away from the 7th to the 14th of December.", day(12, 7), day(12, 14)),
        ("Ik ben van 7 tot en met 14 december op vakantie.", day(12, 7), day(12, 14)),
        ("Ich bin vom 7. bis zum 14. Dezember im Urlaub.", day(12, 7), day(12, 14)),
        ("I'm away until the 14th.", day(11, 26), day(12, 14)),
        ("We are away from the 28th to the 3rd.", day(11, 28), day(12, 3)),
        ("No orders from me until the 14th of December, I'm getting married.", day(11, 26), day(12, 14)),
        ("Bis zum 14. Dezember kommen keine Züge von mir.", day(11, 26), day(12, 14)),
        ("Je ne peux rien envoyer jusqu'au 14 décembre.", day(11, 26), day(12, 14)),
        ("Jag är bortrest den 7 till den 14 december.", day(12, 7), day(12, 14)),
        ("jag ar bortrest fran den 7:e till och med den 14:e december", day(12, 7), day(12, 14)),
        ("Inga order från mig till den 14 december.", day(11, 26), day(12, 14)),
    ] {
        let spoken = read(text);
        assert_eq!(spoken.topic, Some(Topic::Absence), "{text}");
        assert_eq!((spoken.span.from, spoken.span.to), (from, to), "{text}");
    }
    assert_eq!(read("Bo will not beat me before Christmas!").topic, None);
}

#[test]
fn days_of_a_time_that_comes_are_an_absence() {
    let day = |month, day| NaiveDate::from_ymd_opt(2026, month, day);
    for text in [
        "The painters have the whole house from Friday till about the 20th.",
        "We move: the line is cut on Friday until the 20th.",
        "Ab Freitag bis zum 20. ist hier Baustelle.",
    ] {
        let read = read(text);
        assert_eq!(read.topic, Some(Topic::Absence), "{text}");
        assert_eq!((read.span.from, read.span.to), (day(11, 27), day(12, 20)), "{text}");
    }
    for text in [
        "Jag är bortrest 10-17 december.",
        "Ich bin 10-17 Dezember verreist.",
        "Sono in viaggio 10-17 dicembre.",
        "12月10日から17日まで留守にします。",
    ] {
        let read = read(text);
        assert_eq!((read.span.from, read.span.to), (day(12, 10), day(12, 17)), "{text}");
    }
    for text in
        ["It snowed from Monday to Tuesday last year?", "Ajax won 3-1", "We were away 3-10 November 2025"]
    {
        assert_eq!(read(text).topic.filter(|topic| *topic == Topic::Absence), None, "{text}");
    }
}

#[test]
fn a_negation_alone_is_no_sure_no() {
    let said = |text: &str, topic| {
        let lines: Vec<&str> = text.lines().collect();
        stance(&Line::numbered(&lines), Some(topic))
    };
    for text in [
        "Tabii, hiç sorun değil, geçmiş olsun!",
        "No problem at all, take your time.",
        "Klar, kein Problem!",
        "Pas de souci, bien sûr.",
        "Нет проблем, конечно!",
        "Fine with me.",
    ] {
        assert_eq!(said(text, Topic::MoreTime), Stance::Yes, "{text}");
    }
    for text in ["Never!", "Nein danke", "No thanks.", "Não!", "I don't want a draw."] {
        assert_eq!(said(text, Topic::Draw), Stance::No, "{text}");
    }
    for text in [
        "Ask me again in ten moves.",
        "Frag mich in zehn Zügen nochmal.",
        "Redemande-moi dans dix coups.",
        "I am not so sure about that.",
        "Would two days do?",
    ] {
        assert_eq!(said(text, Topic::Draw), Stance::Open, "{text}");
    }
}

#[test]
fn an_order_to_play_is_a_yes() {
    for text in [
        "Yes, play it.",
        "Of course, do it.",
        "yes of course I meant it",
        "Ja, spielen Sie das bitte.",
        "Oui, c'est voulu.",
        "Sí, adelante, hazlo.",
        "Certo che sì, procedi.",
        "Claro que sim, pode jogar.",
        "Ja, doe maar.",
        "Dobra, może być.",
        "Ano, hrajte.",
        "Да, играйте.",
        "Evet, oynayın lütfen.",
        "はい、それでお願いします。",
        "Ja tack, kör.",
    ] {
        assert_eq!(word_answer(&Line::numbered(&[text])), Some(WordAnswer::Yes), "{text}");
    }
    for text in ["Play it tomorrow.", "Do it later, please", "Spielt es nicht", "play it?", "Kör inte"] {
        assert_ne!(word_answer(&Line::numbered(&[text])), Some(WordAnswer::Yes), "{text}");
    }
}

#[test]
fn what_stands_behind_a_condition_is_no_message() {
    for text in [
        "Tell you what: if Bo moves his fleet again I go to bed.",
        "Tell me, when Bo is late again, what then?",
        "Tell Bo's ships to stay out of my quadrant, haha",
    ] {
        assert_ne!(topic(text), Some(Topic::Tell), "{text}");
    }
    for text in ["Please tell Bo I am late", "Sag bitte Bo, dass es schneit", "Dites à Bo que tout va bien"]
    {
        assert_eq!(topic(text), Some(Topic::Tell), "{text}");
    }
}

#[test]
fn who_writes_about_the_opponent_does_not_write_to_them() {
    let about = |text: &str| speaks_about(&Line::numbered(&[text]), "Bo Baker");
    assert!(about("I don't like the tone Bo writes in. Can I stop these messages?"));
    assert!(about("Ich habe von Bo genug, ehrlich gesagt."));
    for text in [
        "Thanks Bo, see you soon",
        "Hi Bo!",
        "It was great to meet you, Bo",
        "Bo, you are a genius and so am I",
    ] {
        assert!(!about(text), "{text}");
    }
}

#[test]
fn words_that_occur_in_wishes_may_say_something_else() {
    for (text, not) in [
        ("Are you a human or a machine?", Topic::Opponent),
        ("Did you get what I sent you earlier?", Topic::Withdraw),
        ("I read my mail once a day, in the evening.", Topic::LessMail),
        ("I read the board upside down.", Topic::Legend),
    ] {
        assert_ne!(topic(text), Some(not), "{text}");
    }
}

#[test]
fn words_that_may_take_orders_back_are_told_from_chat() {
    let may = |text: &str| may_take_orders_back(&Line::numbered(&[text]), &[]);
    for text in [
        "Please bin what I sent you earlier.",
        "omg no i sent that from my pocket",
        "Ship 1 is to stay in harbour until I have had another look at the chart.",
        "could i have the other one instead?",
        "Nicht diesen Zug, bitte.",
    ] {
        assert!(may(text), "{text}");
    }
    for text in [
        "Never had so much fun by mail.",
        "I'm not feeling too well today, just a cold.",
        "Can't wait to see what you are up to.",
        "Did you get what I sent you earlier?",
        "Can my ship 2 see the enemy?",
        "Bei uns schneit es seit gestern.",
    ] {
        assert!(!may(text), "{text}");
    }
}

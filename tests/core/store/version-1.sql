BEGIN TRANSACTION;
CREATE TABLE drafts (key TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE entries (
        thread TEXT NOT NULL REFERENCES threads (id), id INTEGER NOT NULL, wire_id TEXT NOT NULL, kind TEXT NOT NULL,
        turn INTEGER NOT NULL, time TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL, dropped_by TEXT,
        dropped_at INTEGER, referenced_at INTEGER, reference TEXT, sources TEXT NOT NULL, cuts TEXT NOT NULL,
        content TEXT, PRIMARY KEY (thread, id)
    ) STRICT;
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',1,'01a22ddc0a0c48799179d06c','instructions',0,'2026-11-30T19:08:44.940Z','turn','active',NULL,NULL,NULL,NULL,'["01a22ddc0a0c48799179d06c","01a22ddc0a3568afbd5588f0"]','[]','{"version":2,"segments":[["core","new"]]}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',2,'01a22ddc0a1981f99cae8380','prompt',1,'2026-11-30T19:08:44.953Z','turn','dropped','01a22ddc0a38fc64fe3ed271',2,NULL,NULL,'["01a22ddc0a1981f99cae8380"]','[]','{"text":"first"}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',3,'01a22ddc0a253fe24a1fd19e','reply',1,'2026-11-30T19:08:44.965Z','turn','dropped','01a22ddc0a38fc64fe3ed271',2,NULL,NULL,'["01a22ddc0a253fe24a1fd19e"]','[]','{"text":"let me","reasoning":"","finish":"stop","model":"m"}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',4,'824c96ae','tool_call',1,'2026-11-30T19:08:44.965Z','turn','active',NULL,NULL,NULL,NULL,'["01a22ddc0a253fe24a1fd19e"]','[]','{"call":"824c96ae","tool":"t","arguments":"{}"}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',5,'e0dd04c0','tool_call',1,'2026-11-30T19:08:44.965Z','turn','dropped','01a22ddc0a38fc64fe3ed271',2,NULL,NULL,'["01a22ddc0a253fe24a1fd19e","01a22ddc0a300661ac20543e"]','[]','{"call":"e0dd04c0","tool":"t","arguments":"{}"}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',6,'824c96ae','tool_output',1,'2026-11-30T19:08:44.977Z','turn','dropped','01a22ddc0a38fc64fe3ed271',2,NULL,NULL,'["01a22ddc0a310ff1f22c569c"]','[]','{"call":"824c96ae","tool":"t","text":"out","ok":true,"exit_status":null,"bytes":1,"lines":0,"seconds":0.14285714285714285,"kept":"","repeats":null}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',7,'01a22ddc0a3202239a04351b','reply',1,'2026-11-30T19:08:44.978Z','turn','active',NULL,NULL,NULL,NULL,'["01a22ddc0a3202239a04351b"]','[]','{"text":"done","reasoning":"","finish":"stop","model":"m"}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',8,'01a22ddc0a36e0c1ac6ae4ed','prompt',2,'2026-11-30T19:08:44.982Z','turn','dropped','01a22ddc0a38fc64fe3ed271',2,NULL,NULL,'["01a22ddc0a36e0c1ac6ae4ed"]','[]','{"text":"second"}');
INSERT INTO "entries" VALUES('01a22ddc0a08705bdba62e0b',9,'01a22ddc0a3746174ffd174e','reply',2,'2026-11-30T19:08:44.983Z','turn','dropped','01a22ddc0a38fc64fe3ed271',2,NULL,NULL,'["01a22ddc0a3746174ffd174e"]','[]','{"text":"two","reasoning":"","finish":"stop","model":"m"}');
CREATE TABLE events (
        id TEXT PRIMARY KEY, file INTEGER NOT NULL REFERENCES files (id), offset INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
INSERT INTO "events" VALUES('01a22ddc0a0c48799179d06c',1,0);
INSERT INTO "events" VALUES('01a22ddc0a1981f99cae8380',1,292);
INSERT INTO "events" VALUES('01a22ddc0a214c3adff64280',1,504);
INSERT INTO "events" VALUES('01a22ddc0a253fe24a1fd19e',1,812);
INSERT INTO "events" VALUES('01a22ddc0a300661ac20543e',1,1282);
INSERT INTO "events" VALUES('01a22ddc0a310ff1f22c569c',1,1532);
INSERT INTO "events" VALUES('01a22ddc0a3202239a04351b',1,1849);
INSERT INTO "events" VALUES('01a22ddc0a33606107430ae7',1,2222);
INSERT INTO "events" VALUES('01a22ddc0a34d46e74522bf8',1,2759);
INSERT INTO "events" VALUES('01a22ddc0a34ff6131f29374',1,2460);
INSERT INTO "events" VALUES('01a22ddc0a3568afbd5588f0',1,3033);
INSERT INTO "events" VALUES('01a22ddc0a36e0c1ac6ae4ed',1,3434);
INSERT INTO "events" VALUES('01a22ddc0a3746174ffd174e',1,4065);
INSERT INTO "events" VALUES('01a22ddc0a3761a16e9ac75a',1,3648);
INSERT INTO "events" VALUES('01a22ddc0a38ad6cc1f84983',1,4438);
INSERT INTO "events" VALUES('01a22ddc0a38fc64fe3ed271',1,4759);
INSERT INTO "events" VALUES('01a22ddc0a39472e0899e7d1',1,5127);
CREATE TABLE facts (
        thread TEXT NOT NULL REFERENCES threads (id), id TEXT NOT NULL, scope TEXT NOT NULL, subject TEXT NOT NULL,
        name TEXT NOT NULL, value TEXT NOT NULL, source TEXT NOT NULL, version INTEGER NOT NULL, turn INTEGER NOT NULL,
        time TEXT NOT NULL, event TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (thread, id)
    ) STRICT;
INSERT INTO "facts" VALUES('01a22ddc0a08705bdba62e0b','f1','thread','s','k','','person',1,2,'2026-11-30T19:08:44.984Z','01a22ddc0a38ad6cc1f84983','current');
CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL) STRICT;
INSERT INTO "files" VALUES(1,'01a22ddc0a0476ed92a4e3bc.jsonl',5366);
CREATE TABLE history (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE instructions (
        thread TEXT NOT NULL REFERENCES threads (id), version INTEGER NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (thread, version)
    ) STRICT;
INSERT INTO "instructions" VALUES('01a22ddc0a08705bdba62e0b',1,'{"version":1,"segments":[["core","core"]]}');
INSERT INTO "instructions" VALUES('01a22ddc0a08705bdba62e0b',2,'{"version":2,"segments":[["core","new"]]}');
CREATE TABLE locks (
        thread TEXT PRIMARY KEY, session TEXT NOT NULL, pid INTEGER NOT NULL, started REAL NOT NULL
    ) STRICT;
CREATE TABLE plans (
        thread TEXT NOT NULL REFERENCES threads (id), event TEXT NOT NULL, turn INTEGER NOT NULL, step INTEGER NOT NULL,
        entries TEXT NOT NULL, earlier TEXT, now TEXT, instructions INTEGER NOT NULL, settings TEXT NOT NULL,
        sha256 TEXT NOT NULL, answered TEXT, PRIMARY KEY (thread, event)
    ) STRICT;
INSERT INTO "plans" VALUES('01a22ddc0a08705bdba62e0b','01a22ddc0a214c3adff64280',1,1,'[[1,"cut"],[2,"cut"]]',NULL,NULL,1,'{"n":1}','x','01a22ddc0a3202239a04351b');
INSERT INTO "plans" VALUES('01a22ddc0a08705bdba62e0b','01a22ddc0a3568afbd5588f0',1,1,'[[1,"cut"],[2,"cut"],[3,"cut"],[4,"cut"],[5,"cut"],[6,"cut"],[7,"cut"]]',NULL,NULL,2,'{"n":1}','x',NULL);
INSERT INTO "plans" VALUES('01a22ddc0a08705bdba62e0b','01a22ddc0a3761a16e9ac75a',2,2,'[[1,"reference"],[2,"reference"],[3,"reference"],[4,"reference"],[5,"reference"],[6,"reference"],[7,"reference"],[8,"reference"]]',NULL,NULL,2,'{"n":2}','x','01a22ddc0a3746174ffd174e');
CREATE TABLE queue (
        id INTEGER PRIMARY KEY, thread TEXT NOT NULL, text TEXT NOT NULL, held INTEGER NOT NULL
    ) STRICT;
CREATE TABLE summaries (
        thread TEXT NOT NULL REFERENCES threads (id), event TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL,
        turns INTEGER NOT NULL, highest INTEGER NOT NULL, turn INTEGER NOT NULL, time TEXT NOT NULL,
        model TEXT NOT NULL, PRIMARY KEY (thread, event)
    ) STRICT;
INSERT INTO "summaries" VALUES('01a22ddc0a08705bdba62e0b','01a22ddc0a34d46e74522bf8',1,'s',1,1,1,'2026-11-30T19:08:44.980Z','');
CREATE TABLE threads (
        id TEXT PRIMARY KEY, created TEXT NOT NULL, updated TEXT NOT NULL, title TEXT NOT NULL, cwd TEXT NOT NULL,
        model TEXT NOT NULL, mode TEXT NOT NULL, deleted INTEGER NOT NULL, last_seq INTEGER NOT NULL,
        last_turn INTEGER NOT NULL, grants TEXT NOT NULL, totals TEXT NOT NULL, last_usage TEXT
    ) STRICT;
INSERT INTO "threads" VALUES('01a22ddc0a08705bdba62e0b','2026-11-30T19:08:44.940Z','2026-11-30T19:08:44.985Z','first','/work','m','ask',0,17,2,'[]','[3,3,3,6,0]','[1,1,2,null]');
CREATE TABLE turns (
        thread TEXT NOT NULL REFERENCES threads (id), number INTEGER NOT NULL, prompt INTEGER NOT NULL,
        time TEXT NOT NULL, outcome TEXT, error TEXT NOT NULL, ended TEXT, PRIMARY KEY (thread, number)
    ) STRICT;
INSERT INTO "turns" VALUES('01a22ddc0a08705bdba62e0b',1,2,'2026-11-30T19:08:44.953Z','done','','2026-11-30T19:08:44.979Z');
INSERT INTO "turns" VALUES('01a22ddc0a08705bdba62e0b',2,8,'2026-11-30T19:08:44.982Z','done','','2026-11-30T19:08:44.985Z');
CREATE INDEX threads_by_cwd ON threads (cwd, updated);
CREATE INDEX plans_by_turn ON plans (thread, turn);
CREATE INDEX queue_by_thread ON queue (thread, id);
COMMIT;
PRAGMA user_version=1;

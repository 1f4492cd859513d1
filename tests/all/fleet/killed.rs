//! Workers and servers that are killed at random, in the middle of uploads among other times: no job is lost, and nothing
//! that is published is half.

use super::*;
use crate::ship::bucket::Moto;

/// A number of the environment, for runs by hand.
fn number_of(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A worker that is killed when nobody holds it any more.
struct Mortal(Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sets a flag when the test is over, also by a failure.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A row of numbers that looks random, and is the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// The server that leads the jobs' stream. While the servers elect one, nobody answers.
fn leader(world: &World) -> String {
    let told = || {
        let output = world.run(&["fleet", "status", "--json"]);
        let status: Value = serde_json::from_slice(&output.stdout).ok()?;
        status["leader"].as_str().map(str::to_owned)
    };
    let wait = |nth: u32| {
        if nth > 0 {
            thread::sleep(Duration::from_millis(500))
        }
    };
    (0..60)
        .find_map(|nth| {
            wait(nth);
            told()
        })
        .expect("one is elected")
}

/// `CODELODE_JOBS=500 CODELODE_KILLS=200 cargo test --features fleet --test all fleet::killed -- --nocapture` takes minutes.
#[test]
fn workers_and_the_leader_may_be_killed_anywhere() {
    let Some(mut world) = World::new(3) else { return };
    let repos = world.repositories(number_of("CODELODE_JOBS", 8));
    let n_kills = number_of("CODELODE_KILLS", 8);
    let all: Vec<&str> = repos.iter().map(String::as_str).collect();
    assert_eq!(world.submit(&all), BTreeMap::from([("queued".to_owned(), repos.len() as u64)]));
    assert_eq!(world.answer(&["fleet", "status"])["copies"], 3);

    // A reader looks all the time, and never sees anything half.
    let (is_over, place) = (AtomicBool::new(false), PathBuf::from(&world.to));
    let looked = thread::scope(|scope| {
        let names: Vec<String> = repos.iter().map(|repo| format!("local/{repo}")).collect();
        let (is_over, place) = (&is_over, &place);
        let reader = scope.spawn(move || {
            let mut n_whole = 0;
            while !is_over.load(Ordering::Relaxed) {
                for name in &names {
                    let keys = fs::read_dir(place.join(name).join("keys")).into_iter().flatten().flatten();
                    for key in keys.filter(|key| !key.file_name().to_string_lossy().starts_with('.')) {
                        whole(place, name, &parsed(&fs::read_to_string(key.path()).expect("it is there")));
                        n_whole += 1;
                    }
                }
                thread::sleep(Duration::from_millis(100));
            }
            n_whole
        });
        let mut dice = Dice(11);
        let quiet = |mut command: Command| {
            // Many attempts are cut short here.
            command.args(["--attempts", "1000"]).stdout(Stdio::null()).stderr(Stdio::null());
            Mortal(command.spawn().expect("the binary is there"))
        };
        let over = Over(is_over);
        let mut workers: Vec<Mortal> = (0..2).map(|at| quiet(world.worker(&format!("w{at}"), &[]))).collect();
        let mut lost: Option<String> = None;
        for round in 0..n_kills {
            thread::sleep(Duration::from_millis(100 + dice.below(900)));
            let at = dice.below(2) as usize;
            workers[at] = quiet(world.worker(&format!("w{at}"), &[]));
            if round % 4 == 1 {
                // The leader of the jobs' stream goes, and comes back later.
                if let Some(lost) = lost.take() {
                    world.servers.start_again(&lost);
                    thread::sleep(Duration::from_millis(1500));
                }
                let leader = leader(&world);
                world.servers.kill(&leader);
                lost = Some(leader);
            }
        }
        drop(workers);
        let rest = world.work("rest", &["--attempts", "1000"]);
        assert!(of_kind(&rest, "dead").is_empty(), "{rest:?}");
        drop(over);
        reader.join().expect("what is published is whole")
    });
    assert!(looked > 0);
    world.all_are_published(&repos);
    let status = world.answer(&["fleet", "status"]);
    assert_eq!(
        (&status["waiting"], &status["at_work"], &status["dead"]),
        (&json!(0), &json!(0), &json!(0)),
        "{status}"
    );
    println!("{} jobs, {n_kills} kills of workers, {looked} listings read whole", repos.len());
}

#[test]
fn workers_killed_in_mid_upload_leave_nothing_half_in_a_bucket() {
    let Some(mut world) = World::new(1) else { return };
    let Some(moto) = Moto::start() else { return };
    world.environment = moto.environment();
    world.to = "s3://indexes/of/a-fleet".to_owned();
    world.repositories(1);
    let file = |round: u64| format!("def f(x):\n    return {round}\n");
    let mut dice = Dice(5);
    for round in 0..number_of("CODELODE_UPLOADS", 4) as u64 {
        world.write("shop0", "m0.py", &file(round));
        world.commit("shop0");
        world.submit(&["shop0"]);
        let mut command = world.worker("a", &["--attempts", "1000"]);
        let worker = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary is there");
        let worker = Mortal(worker);
        thread::sleep(Duration::from_millis(100 + dice.below(700)));
        drop(worker);
        // The place holds nothing half.
        let index = world.at(&format!("reader{round}"));
        let mut read = world.command(&["index", "shop0", "--from", &world.to, "--name", "local/shop0"]);
        let read = read.env("CODELODE_INDEX_PATH", index).output().expect("the binary is there");
        let err = String::from_utf8_lossy(&read.stderr);
        assert!(err.contains("taken: local/shop0 with 4 files") || err.contains("has no index of it"), "{err}");
    }
    world.work("b", &["--attempts", "1000"]);
    assert_eq!(world.submit(&["shop0"]), BTreeMap::from([("published".to_owned(), 1)]));
}

# How redis-types.rdb was made: by Redis 7.0.15 (Debian), filled and saved by this script. It holds a value of every type and
# encoding that this engine writes, in two databases, with expiries, frequencies of use and a function.
#
#   redis-server --port 7391 --dbfilename redis-types.rdb --save '' --maxmemory-policy allkeys-lfu --maxmemory 100mb
r() { redis-cli -p 7391 "$@" > /dev/null; }
r set text hello
r set number 12345
r set negative -7
r set large 3000000000
r set packed "$(printf 'a%.0s' $(seq 300))"
r set noise "$(seq 1 60 | tr -d '\n')" EX 100000000
r set "$(printf 'k%.0s' $(seq 100))" long-name-is-packed
r rpush list a 1 2 3
for i in $(seq 40); do r rpush long-list "$(printf "$i-%.0s" $(seq 80))"; done
r rpush large-element "$(seq 1 3000 | tr '\n' ' ')"
r sadd ints 1 2 3
r sadd big-ints 1 70000 5000000000
r sadd set a b c
r zadd zset 1 a 2.5 b -inf c
r hset hash f v g w
r config set zset-max-listpack-entries 1
r config set hash-max-listpack-entries 1
r config set list-max-listpack-size 2
r zadd tree 1 a 2.5 b -inf c +inf d
r hset table f v g w h 12
r rpush small-nodes a b c d e f g
r setbit bits 1000 1
r pfadd counted a b c
r geoadd places 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
r xadd stream 1-1 a 1
r xadd stream 2-1 a 2 b 3
r xadd stream 3-1 c 4
r xgroup create stream group 0
r xgroup create stream empty 2-1
r xreadgroup group group alice count 2 streams stream ">"
r xreadgroup group group bob count 1 streams stream ">"
r xack stream group 1-1
r xdel stream 2-1
r -n 3 set elsewhere 1 PX 99999999999
r -n 3 object freq elsewhere
r function load "#!lua name=lib
redis.register_function('f', function() return 1 end)"
r save
